//! Any moment of a trace: keyframes and replay.
