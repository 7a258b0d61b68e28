//! Where the proxies pass requests on to: from the config and the environment to an address with a key.

use std::time::Duration;

use throughline_providers::{Api, Secret, Upstream};
use throughline_server::{Code, Problem, ProxySettings, Upstreams};

use super::Household;
use crate::config::{Config, ModelProvider};
use crate::models::{ModelSetupError, key_file};
use crate::world;

/// What the config says about an API, and the provider of the same name.
struct Settings<'a> {
    base_url: Option<&'a str>,
    /// The variable that holds the key.
    key_in: Option<&'a str>,
    /// The file beside the config that holds it otherwise.
    key_file: Option<&'static str>,
}

impl<'a> Settings<'a> {
    fn of(config: &'a Config, api: Api) -> Self {
        let (proxy, model) = (&config.proxy, &config.model);
        let (base_url, key_in, provider, usual, key_file) = match api {
            Api::OpenAi => (
                &proxy.openai_base_url,
                &proxy.openai_api_key_env,
                ModelProvider::OpenAi,
                Some("OPENAI_API_KEY"),
                Some("openai.key"),
            ),
            Api::Anthropic => (
                &proxy.anthropic_base_url,
                &proxy.anthropic_api_key_env,
                ModelProvider::Anthropic,
                Some("ANTHROPIC_API_KEY"),
                Some("anthropic.key"),
            ),
            Api::Ollama => (&None, &None, ModelProvider::Ollama, None, None),
        };
        let model = Some(model).filter(|model| model.provider == provider);
        let base_url = base_url.as_deref().or_else(|| model?.base_url.as_deref());
        let key_in = key_in.as_deref().or_else(|| model?.api_key_env.as_deref()).or(usual);
        Self { base_url, key_in, key_file }
    }
}

impl Upstreams for Household {
    fn upstream(&self, api: Api) -> Result<Upstream, Problem> {
        let Settings { base_url, key_in, key_file: file } = Settings::of(&self.world.config.config, api);
        let refused = |error: ModelSetupError| Problem::new(Code::NoModel, error.to_string(), error.hint());
        let from_file = || file.map(|name| key_file(&self.world.home.config.join(name))).transpose();
        let key = match key_in.and_then(world::secret) {
            Some(key) => Some(key),
            None => from_file().map_err(refused)?.flatten(),
        };
        let host = world::ollama_host().filter(|_| api == Api::Ollama);
        let key = key.map(Secret::new);
        Upstream::new(api, base_url.or(host.as_deref()), key.as_ref()).map_err(|error| refused(error.into()))
    }

    fn proxy_settings(&self) -> ProxySettings {
        let proxy = &self.world.config.config.proxy;
        ProxySettings { deadline: Duration::from_millis(u64::from(proxy.deadline_ms)), compacts: proxy.compact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Format, parse};

    #[test]
    fn the_proxys_own_address_comes_first_and_a_model_of_the_same_name_next() {
        let check = |config: &str, api, expected: (Option<&str>, Option<&str>)| {
            let config = parse(config, Format::Toml).unwrap();
            let settings = Settings::of(&config, api);
            assert_eq!((settings.base_url, settings.key_in), expected);
        };
        let model = "[model]\nprovider = \"openai\"\nbase_url = \"http://m\"\napi_key_env = \"M\"\n";
        check(model, Api::OpenAi, (Some("http://m"), Some("M")));
        check(model, Api::Anthropic, (None, Some("ANTHROPIC_API_KEY")));
        check("", Api::OpenAi, (None, Some("OPENAI_API_KEY")));
        let both = format!("{model}[proxy]\nopenai_base_url = \"http://p\"\nopenai_api_key_env = \"P\"\n");
        check(&both, Api::OpenAi, (Some("http://p"), Some("P")));
        check("", Api::Ollama, (None, None));
    }
}
