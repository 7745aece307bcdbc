//! Text and meters over the picture, by egui.
