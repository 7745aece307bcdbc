//! References to events: the cache hierarchy.
