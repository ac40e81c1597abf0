//! (map follows)
