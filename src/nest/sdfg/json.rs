//! What stands where in DaCe's JSON. Attributes that equal their default may be left out.

use serde_json::Value;

/// A text; empty where there is none.
pub(super) fn text_of(value: Option<&Value>) -> &str {
    match value {
        Some(Value::String(text)) => text,
        Some(Value::Object(code)) => code.get("string_data").and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    }
}

/// A list; empty where there is none.
pub(super) fn list_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An attribute.
pub(super) fn attribute<'a>(node: &'a Value, name: &str) -> Option<&'a Value> {
    node.get("attributes").and_then(|attributes| attributes.get(name)).filter(|value| !value.is_null())
}

pub(super) fn flag(node: &Value, name: &str) -> bool {
    attribute(node, name).and_then(Value::as_bool).unwrap_or(false)
}

/// A number that may be written as a text.
pub(super) fn index_of(value: Option<&Value>) -> Option<usize> {
    match value? {
        Value::Number(number) => usize::try_from(number.as_u64()?).ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

pub(super) fn kind(node: &Value) -> &str {
    text_of(node.get("type"))
}

/// The name that people know a node by.
pub(super) fn label(node: &Value) -> &str {
    match text_of(node.get("label")) {
        "" => text_of(attribute(node, "label")),
        label => label,
    }
}

/// An edge: numbers of its ends, connectors, what it carries.
pub(super) struct Link<'a> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) from_connector: &'a str,
    pub(super) to_connector: &'a str,
    /// The memlet, or what a control flow carries.
    pub(super) data: &'a Value,
}

static NOTHING: Value = Value::Null;

impl<'a> Link<'a> {
    pub(super) fn of(edge: &'a Value) -> Option<Self> {
        Some(Self {
            from: index_of(edge.get("src"))?,
            to: index_of(edge.get("dst"))?,
            from_connector: text_of(edge.get("src_connector")),
            to_connector: text_of(edge.get("dst_connector")),
            data: attribute(edge, "data").unwrap_or(&NOTHING),
        })
    }
}

/// Bytes of an element of this type, and its name; `None` where they are not known.
pub(super) fn element(dtype: Option<&Value>) -> Option<(u32, String)> {
    let sizes = [
        ("int64", 8),
        ("uint64", 8),
        ("float64", 8),
        ("complex64", 8),
        ("int32", 4),
        ("uint32", 4),
        ("float32", 4),
        ("int16", 2),
        ("uint16", 2),
        ("float16", 2),
        ("half", 2),
        ("bfloat16", 2),
        ("int8", 1),
        ("uint8", 1),
        ("bool", 1),
        ("bool_", 1),
        ("char", 1),
        ("complex128", 16),
        ("string", 8),
    ];
    // What DaCe leaves out is a 32-bit number.
    let Some(dtype) = dtype else { return Some((4, "int32".into())) };
    match dtype {
        Value::String(name) => {
            let bare = name.trim_start_matches("dace.");
            let size = sizes.into_iter().find(|(known, _)| *known == bare)?.1;
            Some((size, bare.to_owned()))
        }
        Value::Object(parts) => match text_of(parts.get("type")) {
            "vector" => {
                let (bytes, name) = element(parts.get("dtype"))?;
                let count = index_of(parts.get("elements"))?;
                Some((bytes.checked_mul(u32::try_from(count).ok()?)?, format!("{name}x{count}")))
            }
            "pointer" => Some((8, "pointer".into())),
            _ => None,
        },
        _ => None,
    }
}
