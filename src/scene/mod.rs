//! A moment as plain lists of shapes.
