//! What pictures and videos alike are refined by.

use clap::Args;

/// How pictures are refined once they are drawn.
#[derive(Debug, Clone, Default, Args)]
pub struct RefineArgs {
    /// Leave the ground transparent; of videos in .png, .apng, .webm, .mov and .webp
    #[arg(long)]
    pub transparent: bool,
    /// Draw everything larger by this factor, 1 to 4, and average it down to the size asked for: finer lines in small pictures
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4))]
    pub supersample: u32,
}
