//! Frames to files: MP4, GIF, PNG.
