//! What a server may ask of a host.

use core::time::Duration;

use mcp_async::model::Root;

use super::limiter::Limit;

/// What one server may ask of a [`Host`](super::Host), and how often.
///
/// A capability that the policy refuses is not declared to the server, so that it does not ask.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::model::Root;
/// use mcp_compose::ServerPolicy;
///
/// let policy = |server: &str| match server {
///     "files" => ServerPolicy::default().roots([Root::new("file:///home/ada/notes")]),
///     "agent" => ServerPolicy::default().sampling(5, Duration::from_secs(60)),
///     _ => ServerPolicy::default().without_sampling().without_elicitation(),
/// };
/// # let _ = policy;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ServerPolicy {
    pub(super) elicitation: bool,
    pub(super) sampling: Option<Limit>,
    pub(super) context_of_others: bool,
    pub(super) roots: Vec<Root>,
    pub(super) questions: Limit,
}

impl ServerPolicy {
    /// Lets the server ask the model so many times in each period, and twice at once; 10 in a minute otherwise. One more
    /// is refused with -32603 and a text that names the limit.
    #[must_use]
    pub const fn sampling(mut self, requests: usize, period: Duration) -> Self {
        self.sampling = Some(Limit {
            at_once: SAMPLING_AT_ONCE,
            per_period: requests,
            period,
        });
        self
    }

    /// Does not let the server ask the model.
    #[must_use]
    pub const fn without_sampling(mut self) -> Self {
        self.sampling = None;
        self
    }

    /// Lets the server ask the model with the context of all servers. Otherwise
    /// [`include_context`](mcp_async::model::CreateMessageParams::include_context) names the server itself, when the hook
    /// receives it.
    #[must_use]
    pub const fn context_of_others(mut self) -> Self {
        self.context_of_others = true;
        self
    }

    /// Does not let the server ask a person. Otherwise it may ask 60 times in a minute, and 4 times at once.
    #[must_use]
    pub const fn without_elicitation(mut self) -> Self {
        self.elicitation = false;
        self
    }

    /// Shows the server these directories, none otherwise; [`HostBuilder::on_roots`](super::HostBuilder::on_roots)
    /// decides anew each time and has precedence.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.roots = roots.into_iter().collect();
        self
    }
}

impl Default for ServerPolicy {
    fn default() -> Self {
        let policy = Self {
            elicitation: true,
            sampling: None,
            context_of_others: false,
            roots: Vec::new(),
            questions: Limit {
                at_once: QUESTIONS_AT_ONCE,
                per_period: 60,
                period: MINUTE,
            },
        };
        policy.sampling(10, MINUTE)
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const SAMPLING_AT_ONCE: usize = 2;
const QUESTIONS_AT_ONCE: usize = 4;
