//! Why a request could not be answered: a code for programs, a message and a hint for people.

use std::borrow::Cow;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use throughline_core::engine::{EngineError, ErrorCode, chain};
use throughline_core::model::{ContentHash, NameError, WeightError};
use throughline_core::recall::FilterError;
use throughline_core::when::WhenError;
use utoipa::ToSchema;

/// What kind of problem it is. Programs rely on these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request makes no sense; nothing was changed.
    Invalid,
    /// Who asks is not known.
    Unauthorized,
    /// Whoever asks may not, from there.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// Not with this method.
    MethodNotAllowed,
    /// The name stands for several things.
    Ambiguous,
    /// Somebody else changed it in the meantime.
    Conflict,
    /// The `If-Match` that came with it is not what is there.
    Changed,
    /// A write without the `If-Match` that it needs.
    Unconditional,
    /// Identity has a hard limit.
    IdentityFull,
    /// More than is taken at once.
    TooLarge,
    /// Only JSON is taken.
    NotJson,
    /// Too many at once; try again in a moment.
    Busy,
    /// No model is set up that could do this.
    NoModel,
    /// The database is not in its place; try again when it is back.
    Unavailable,
    /// Something here is broken.
    Failed,
}

impl Code {
    /// The word that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Ambiguous => "ambiguous",
            Self::Conflict => "conflict",
            Self::Changed => "changed",
            Self::Unconditional => "unconditional",
            Self::IdentityFull => "identity_full",
            Self::TooLarge => "too_large",
            Self::NotJson => "not_json",
            Self::Busy => "busy",
            Self::NoModel => "no_model",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Ambiguous | Self::Conflict | Self::NoModel => StatusCode::CONFLICT,
            Self::Changed => StatusCode::PRECONDITION_FAILED,
            Self::Unconditional => StatusCode::PRECONDITION_REQUIRED,
            Self::IdentityFull => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Busy => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<ErrorCode> for Code {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::Invalid => Self::Invalid,
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::Ambiguous => Self::Ambiguous,
            ErrorCode::Conflict => Self::Conflict,
            ErrorCode::IdentityFull => Self::IdentityFull,
            // Another process holds the database: the caller may try again, as with any load.
            ErrorCode::Busy => Self::Busy,
            ErrorCode::Unavailable => Self::Unavailable,
            ErrorCode::Failed => Self::Failed,
        }
    }
}

/// Why a request could not be answered. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The word for programs.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to try next.
    pub hint: Option<String>,
    /// What is there instead, where the `If-Match` of a document was not.
    pub current: Option<Current>,
}

/// A document as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Current {
    /// What it says.
    pub text: String,
    /// The digest to send as `If-Match`.
    pub hash: ContentHash,
}

impl Problem {
    /// A problem with a hint.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: Some(hint.into()), current: None }
    }

    /// Something here is broken.
    pub fn failed(error: &dyn std::error::Error, hint: Option<String>) -> Self {
        tracing::error!(error = chain(error), "a request failed");
        Self { code: Code::Failed, message: chain(error), hint, current: None }
    }

    /// Something here is broken, and nobody here knows what.
    pub(crate) fn broken() -> Self {
        Self::new(Code::Failed, BROKEN, "`throughline doctor` looks for the cause; please report it")
    }

    /// Work that ended in the middle.
    pub(crate) fn unfinished(error: &tokio::task::JoinError) -> Self {
        tracing::error!(%error, "a request ended in the middle");
        Self::broken()
    }

    /// As every surface says it.
    pub(crate) fn body(self) -> ErrorBody {
        let Self { code, message, hint, current } = self;
        ErrorBody { error: ErrorInner { code: code.as_str(), message, hint, current } }
    }
}

/// What is said of a failure that nobody foresaw.
pub(crate) const BROKEN: &str = "something here is broken";

/// `{"error": {"code", "message", "hint"}}`
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// Why the request could not be answered.
    error: ErrorInner,
}

/// Why a request could not be answered.
#[derive(Serialize, ToSchema)]
struct ErrorInner {
    /// A word for programs.
    code: &'static str,
    /// What is wrong.
    message: String,
    /// What to try next.
    hint: Option<String>,
    /// The document as it is now, where the write came too late.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<Current>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.code;
        let mut response = (code.status(), Json(self.body())).into_response();
        let headers = response.headers_mut();
        match code {
            Code::Busy => {
                headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
            }
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let code = Code::from(error.code());
        if code == Code::Failed {
            tracing::error!(error = chain(&error), "a request failed");
        }
        Self { code, message: chain(&error), hint: error.hint().map(Cow::into_owned), current: None }
    }
}

impl From<NameError> for Problem {
    fn from(error: NameError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<FilterError> for Problem {
    fn from(error: FilterError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<WhenError> for Problem {
    fn from(error: WhenError) -> Self {
        Self::new(Code::Invalid, error.to_string(), error.hint())
    }
}

impl From<WeightError> for Problem {
    fn from(error: WeightError) -> Self {
        Self::new(Code::Invalid, error.to_string(), "significance is 1 to 5, importance 0 to 1; give one of them")
    }
}
