//! Memory for programs that only know a model's address: the real daemon between clients and a scripted server in the true wire
//! formats. What the server gets is compared byte for byte with what the client sent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![allow(clippy::print_stdout, reason = "what was not tried is said")]

#[path = "proxy/access.rs"]
mod access;
#[path = "channels/bot_api.rs"]
#[allow(dead_code, reason = "the channels' own tests need more of it")]
mod bot_api;
mod common;
#[path = "proxy/compacting.rs"]
mod compacting;
#[path = "proxy/conversations.rs"]
mod conversations;
#[path = "proxy/faults.rs"]
mod faults;
#[path = "proxy/passing.rs"]
mod passing;
#[path = "proxy/place.rs"]
mod place;
#[path = "proxy/sdk.rs"]
mod sdk;
#[path = "proxy/story.rs"]
mod story;
