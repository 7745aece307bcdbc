//! Rust sources as the compiler's grammar has them (`syn`): what they name, by absolute paths, and their tokens, without tests.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, UseTree};

/// What a file names and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Absolute: `crate::sim::Hierarchy`, `std::fs`.
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// A word, number, `::` or single sign; strings and characters are `""`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// All tokens of a text.
///
/// # Panics
/// Where it is no Rust.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    flat(text.parse().unwrap_or_else(|e| panic!("no tokens of Rust: {e}: {text}")))
}

/// The tokens of a file, without its tests.
pub(crate) fn tokens_without_tests(text: &str) -> Vec<Token> {
    flat(without_tests(parsed(text)).to_token_stream())
}

/// The modules that a file declares, with their contents or not.
pub(crate) fn declared(text: &str) -> Vec<String> {
    let modules = parsed(text).items.into_iter();
    modules
        .filter_map(|item| if let Item::Mod(module) = item { Some(module.ident.to_string()) } else { None })
        .collect()
}

/// Every path that a file names outside its tests: in `use`, in code, in calls of macros and in what these are given, with `super` and
/// `self` resolved from `module` and inline modules within it.
pub(crate) fn paths(text: &str, module: &[String]) -> Vec<Named> {
    let mut paths = Paths { here: module.to_vec(), found: Vec::new() };
    paths.visit_file(&without_tests(parsed(text)));
    paths.found.sort_by_key(|named| named.line);
    paths.found
}

fn parsed(text: &str) -> syn::File {
    syn::parse_file(text).unwrap_or_else(|e| panic!("no Rust: {e}: {text}"))
}

// ---- tests

fn without_tests(mut file: syn::File) -> syn::File {
    prune(&mut file.items);
    file
}

fn prune(items: &mut Vec<Item>) {
    items.retain(|item| !is_test(attributes(item)));
    for item in items {
        match item {
            Item::Mod(module) => module.content.iter_mut().for_each(|(_, items)| prune(items)),
            Item::Impl(block) => block.items.retain(|item| !matches!(item, ImplItem::Fn(f) if is_test(&f.attrs))),
            _ => {}
        }
    }
}

/// Whether `cfg(test)` or `cfg(all(test, ...))` stands there.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let mut test = false;
        // What is no list of this form is no test.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("all") {
                return meta.parse_nested_meta(|meta| {
                    test |= meta.path.is_ident("test");
                    skip(&meta)
                });
            }
            test |= meta.path.is_ident("test");
            skip(&meta)
        });
        test
    })
}

/// Goes over `= "value"` or `(...)`.
fn skip(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        return meta.value()?.parse::<syn::Lit>().map(drop);
    }
    if meta.input.peek(syn::token::Paren) {
        return meta.parse_nested_meta(|meta| skip(&meta));
    }
    Ok(())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

// ---- paths

struct Paths {
    /// The module that is looked at.
    here: Vec<String>,
    found: Vec<Named>,
}

impl Paths {
    /// Takes note of a path as it is written.
    fn note(&mut self, words: &[String], span: Span) {
        let mut path: Vec<String> = Vec::new();
        for (n, word) in words.iter().enumerate() {
            match word.as_str() {
                "self" | "super" if path.is_empty() && n == 0 => {
                    path = std::iter::once("crate".to_owned()).chain(self.here.iter().cloned()).collect();
                    if word == "super" {
                        path.pop();
                    }
                }
                "self" => {}
                "super" => drop(path.pop()),
                word => path.push(word.to_owned()),
            }
        }
        self.found.push(Named { path, line: span.start().line });
    }

    fn tree(&mut self, stem: &[String], tree: &UseTree) {
        let with = |word: String| stem.iter().cloned().chain([word]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.note(&with(name.ident.to_string()), name.ident.span()),
            UseTree::Rename(name) => self.note(&with(name.ident.to_string()), name.ident.span()),
            UseTree::Glob(glob) => self.note(stem, glob.star_token.spans[0]),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(stem, tree)),
        }
    }

    /// Paths among the tokens that a macro is given, or made of; there is no grammar for these.
    fn within(&mut self, tokens: TokenStream) {
        let all = flat(tokens);
        let word = |n: usize| all.get(n).is_some_and(|t| t.text.starts_with(|c: char| c == '_' || c.is_alphabetic()));
        let mut at = 0;
        while at < all.len() {
            let (first, mut words) = (at, Vec::new());
            while word(at) {
                words.push(all[at].text.clone());
                at += 1;
                if !(all.get(at).is_some_and(|t| t.text == "::") && word(at + 1)) {
                    break;
                }
                at += 1;
            }
            if words.len() > 1 {
                self.note(&words, Span::call_site());
                if let Some(named) = self.found.last_mut() {
                    named.line = all[first].line;
                }
            }
            at = at.max(first + 1);
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.here.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(&words, path.segments[0].ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        visit::visit_macro(self, mac);
        self.within(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        // `#[cfg_attr(..., expect(...))]` and documentation name nothing of ours; `#[derive(serde::Serialize)]` does.
        if attribute.path().is_ident("derive") {
            self.within(attribute.meta.to_token_stream());
        }
    }
}

// ---- tokens

fn flat(tokens: TokenStream) -> Vec<Token> {
    let mut out = Vec::new();
    flatten(tokens, &mut out);
    out
}

fn flatten(tokens: TokenStream, out: &mut Vec<Token>) {
    let put = |text: String, span: Span, out: &mut Vec<Token>| out.push(Token { text, line: span.start().line });
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) => put(word.to_string(), word.span(), out),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let is_number = text.starts_with(|c: char| c.is_ascii_digit());
                put(if is_number { text } else { "\"\"".into() }, literal.span(), out);
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' && out.last().is_some_and(|t| t.text == ":.") => {
                // The second of two that stand together.
                if let Some(first) = out.last_mut() {
                    first.text = "::".into();
                }
            }
            TokenTree::Punct(sign) => {
                let joint = sign.as_char() == ':' && sign.spacing() == proc_macro2::Spacing::Joint;
                put(if joint { ":.".into() } else { sign.as_char().to_string() }, sign.span(), out);
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                put(open.into(), group.span_open(), out);
                flatten(group.stream(), out);
                put(close.into(), group.span_close(), out);
            }
        }
    }
}
