//! Bytes to references: readers, the native file, synthetic generators.
