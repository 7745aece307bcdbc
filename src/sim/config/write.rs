//! [`HierarchyConfig`] to TOML.

use super::words::word;
use super::{HierarchyConfig, LevelConfig, MissScore, TlbConfig, Ways, format_size};
use std::fmt::Write as _;

impl HierarchyConfig {
    /// The file that [`HierarchyConfig::from_toml`] reads back as this, with every key written out that has an effect.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Writing to a String cannot fail.
        let mut out = format!("name = {}\n", quoted(&self.name));
        if self.cores != 1 {
            let _ = writeln!(out, "cores = {}", self.cores);
        }
        if self.data_only {
            out.push_str("data_only = true\n");
        }
        let order = self.order;
        if order.writeback_first || order.fetch_on_full_line_write || self.seed != 1 {
            let _ = write!(
                out,
                "\n[hierarchy]\nwriteback_first = {}\nfetch_on_full_line_write = {}\nseed = {}\n",
                order.writeback_first, order.fetch_on_full_line_write, self.seed
            );
        }
        for (n, level) in self.levels.iter().enumerate() {
            write_level(&mut out, level, self.miss_score(n));
        }
        for tlb in &self.tlbs {
            write_tlb(&mut out, tlb);
        }
        let page = format_size(u64::from(self.memory.page));
        let _ = write!(out, "\n[memory]\nlatency = {}\npage = \"{page}\"\n", self.memory.latency);
        out
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn ways(ways: Ways) -> String {
    match ways {
        Ways::Count(n) => n.to_string(),
        Ways::Full => "\"full\"".into(),
    }
}

fn write_level(out: &mut String, level: &LevelConfig, miss: MissScore) {
    let _ = write!(
        out,
        "\n[[level]]\nname = {}\nsize = \"{}\"\nline = {}\nways = {}\npolicy = \"{}\"\nwrite = \"{}\"\n\
         allocate = \"{}\"\ninclusion = \"{}\"\nlatency = {}\nholds = \"{}\"\nshared = {}\nprefetch = \"{}\"\n\
         index = \"{}\"\n",
        quoted(&level.name),
        format_size(level.size),
        level.line,
        ways(level.ways),
        word(&level.policy),
        word(&level.write),
        word(&level.allocate),
        word(&level.inclusion),
        level.latency,
        word(&level.holds),
        level.shared,
        word(&level.prefetch),
        word(&level.index),
    );
    if let Some(slices) = level.slices {
        let _ = writeln!(out, "slices = {slices}");
    }
    if let Some(sector) = level.sector {
        let _ = writeln!(out, "sector = {sector}");
    }
    let _ = writeln!(out, "hit_score = {}", level.hit_score);
    let _ = match miss {
        MissScore::Line => writeln!(out, "miss_score = \"{}\"", MissScore::WORD),
        MissScore::Of(score) => writeln!(out, "miss_score = {score}"),
    };
}

fn write_tlb(out: &mut String, tlb: &TlbConfig) {
    let pages: Vec<String> = tlb.pages.iter().map(|&page| format!("\"{}\"", format_size(u64::from(page)))).collect();
    let _ = write!(
        out,
        "\n[[tlb]]\nname = {}\nentries = {}\nways = {}\npages = [{}]\npolicy = \"{}\"\nlatency = {}\nholds = \"{}\"\n\
         shared = {}\n",
        quoted(&tlb.name),
        tlb.entries,
        ways(tlb.ways),
        pages.join(", "),
        word(&tlb.policy),
        tlb.latency,
        word(&tlb.holds),
        tlb.shared,
    );
}
