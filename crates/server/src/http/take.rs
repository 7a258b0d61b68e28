//! What handlers take from a request: JSON, parameters, names. Whatever cannot be read is answered in the shape of every
//! other problem; nothing that is not known is let through.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor, value};
use throughline_core::model::ContentHash;

use crate::problem::{Code, Problem};

/// How deep JSON may be.
const DEEPEST: usize = 64;

/// A body of JSON; none is an empty object.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                let hint = "send less at once: a body may have 1 MiB, an import 64 MiB";
                Problem::new(Code::TooLarge, "the body is too large", hint)
            }
            _ => invalid(format!("the body cannot be read: {}", rejection.body_text())),
        })?;
        read(&bytes).map(Self)
    }
}

/// Reads a body that was received.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = if bytes.trim_ascii().is_empty() { b"{}" } else { bytes };
    // A list would be read as the fields of a body in their order.
    if bytes.trim_ascii().starts_with(b"[") {
        return Err(invalid("the body is a list; an object is expected"));
    }
    if is_too_deep(bytes) {
        return Err(invalid(format!("the body is nested deeper than {DEEPEST}")));
    }
    serde_json::from_slice(bytes).map_err(|error| invalid(format!("the body cannot be read: {error}")))
}

/// Whether brackets outside of texts go deeper than is taken; looks at the bytes once.
fn is_too_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// The parameters behind the `?`.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let mut given: Vec<(String, Values)> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match given.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.0.push(value.into_owned()),
                None => given.push((name.into_owned(), Values(vec![value.into_owned()]))),
            }
        }
        let map = value::MapDeserializer::<_, value::Error>::new(given.into_iter());
        T::deserialize(map).map(Self).map_err(|error| invalid(format!("the parameters cannot be read: {error}")))
    }
}

/// What one parameter was given: once, or several times where a list is wanted.
struct Values(Vec<String>);

impl Values {
    fn once(self) -> Result<String, value::Error> {
        let [only]: [String; 1] = self.0.try_into().map_err(|_| de::Error::custom("one of them is given twice"))?;
        Ok(only)
    }

    fn parsed<T: std::str::FromStr>(self, what: &str) -> Result<T, value::Error> {
        let text = self.once()?;
        text.parse().map_err(|_| de::Error::custom(format!("`{text}` is not {what}")))
    }
}

impl IntoDeserializer<'_, value::Error> for Values {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for Values {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_string(self.once()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        value::SeqDeserializer::new(self.0.into_iter()).deserialize_any(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_u64(self.parsed("a number")?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_u32(self.parsed("a number")?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_bool(self.parsed("true or false")?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, value::Error> {
        let text: String = self.once()?;
        de::Deserializer::deserialize_enum(text.into_deserializer(), name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// The names in the path.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let taken = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        taken.map(|path| Self(path.0)).map_err(|rejection| invalid(rejection.body_text()))
    }
}

/// The state that a writer saw: `If-Match`, or nothing where it does not matter.
pub(crate) struct IfMatch(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        tag(&parts.headers, header::IF_MATCH).map(Self)
    }
}

/// The document that a writer saw: `If-Match` its digest, or `If-None-Match: *` where there was none. One is needed.
pub(crate) struct Seen(pub(crate) ContentHash);

impl<S: Send + Sync> FromRequestParts<S> for Seen {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let hint = "send `If-Match` with the ETag of what you read, or `If-None-Match: *` for a new document";
        let is_new = parts.headers.get(header::IF_NONE_MATCH).map(|value| value == "*");
        match (tag(&parts.headers, header::IF_MATCH)?, is_new) {
            (Some(hash), None) => Ok(Self(ContentHash::stored(hash))),
            (None, Some(true)) => Ok(Self(ContentHash::missing())),
            (None, None) => Err(Problem::new(Code::Unconditional, "the write does not say what it replaces", hint)),
            _ => Err(Problem::new(Code::Invalid, "the conditions of the write make no sense", hint)),
        }
    }
}

/// The one strong tag of a header. A weak one, or one that is not quoted, matches nothing and is given as it stands.
fn tag(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(&name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if values.next().is_some() || text.is_empty() || text == "*" || text.contains("\",") {
        let hint = "send the one ETag of what you read, quotes included";
        return Err(Problem::new(Code::Invalid, format!("`{name}` is not one ETag"), hint));
    }
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Ok(Some(inner.unwrap_or(text).to_owned()))
}

fn invalid(message: impl Into<String>) -> Problem {
    Problem::new(Code::Invalid, message, "nothing was changed; `/api/openapi.json` says what is taken")
}

/// Tells a field that is null, which removes something, from one that is not given.
pub(crate) fn given<'de, T: serde::Deserialize<'de>, D: de::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    <Option<T> as serde::Deserialize>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_are_not_depth() {
        assert!(!is_too_deep(br#"{"a": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\""}"#));
        assert!(!is_too_deep("[".repeat(64).as_bytes()));
        assert!(is_too_deep("[".repeat(65).as_bytes()));
    }
}
