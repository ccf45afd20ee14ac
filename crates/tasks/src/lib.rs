//! landmark-tasks
