//! Other people's assistants.
