//! Requests of one login that meet, in any order of their steps, while the store fails now and then.

use mcp_auth::authorization_server::{
    LOGIN_CLAIM, LoginAction, LoginContext, LoginExchange, LoginInput, LoginMachine, LoginStep,
    ProviderTokenRequest,
};
use serde_json::{Value, json};

use super::world::{REDIRECT, Response, Sent, World, code_form, refresh_form, text};

/// The outcome of a request: its status and its body, or those that stand for it.
type Outcome = (u16, String);

/// A request whose outcome is compared with others.
enum Request {
    Exchange(LoginExchange),
    Handler(ProviderTokenRequest),
}

impl LoginMachine for Request {
    type Output = Outcome;

    fn advance(&mut self, context: &LoginContext<'_>, input: LoginInput<'_>) -> LoginStep<Outcome> {
        match self {
            Self::Exchange(machine) => match machine.advance(context, input) {
                LoginStep::Do(action) => LoginStep::Do(action),
                LoginStep::Done(response) => LoginStep::Done((response.status, response.body)),
            },
            Self::Handler(machine) => match machine.advance(context, input) {
                LoginStep::Do(action) => LoginStep::Do(action),
                LoginStep::Done(Ok(_)) => LoginStep::Done((200, String::new())),
                LoginStep::Done(Err(error)) => LoginStep::Done((503, error.to_string())),
            },
        }
    }
}

/// A request between two of its steps.
enum Stage {
    Next(LoginStep<Outcome>),
    /// The provider has done what it was asked, and its response is on the way.
    Asked(LoginAction, Response),
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A provider that replaces its refresh token at each use, and ends the login of one that is used twice.
struct Provider {
    current: usize,
    has_ended: bool,
}

impl Provider {
    const fn new() -> Self {
        Self {
            current: 1,
            has_ended: false,
        }
    }

    fn answer(&mut self, action: &LoginAction) -> Response {
        let LoginAction::Send(request) = action else {
            panic!("{action:?}");
        };
        let body = request.body.as_ref().unwrap().expose();
        let (_, sent) = body.split_once("refresh_token=their-refresh-").unwrap();
        let sent: usize = sent.split('&').next().unwrap().parse().unwrap();
        self.has_ended |= sent != self.current;
        if self.has_ended {
            return Response::Body(400, r#"{"error":"invalid_grant"}"#.into());
        }
        self.current += 1;
        let next = format!("their-refresh-{}", self.current);
        Response::Tokens(json!({ "sub": "ada" }), json!({ "refresh_token": next }))
    }
}

/// Runs requests to their ends, one step of one of them at a time.
fn race(
    world: &mut World,
    provider: &mut Provider,
    random: &mut Random,
    failures: bool,
    requests: Vec<Request>,
) -> Vec<Outcome> {
    let mut running: Vec<_> = requests
        .into_iter()
        .map(|mut machine| {
            let step = machine.advance(&world.context(), LoginInput::Start);
            (machine, Stage::Next(step))
        })
        .collect();
    let mut outcomes = Vec::new();
    while !running.is_empty() {
        let (mut machine, stage) = running.swap_remove(random.below(running.len()));
        let stage = match stage {
            Stage::Next(LoginStep::Done(outcome)) => {
                outcomes.push(outcome);
                continue;
            }
            Stage::Next(LoginStep::Do(action @ LoginAction::Send(_))) => {
                let response = provider.answer(&action);
                Stage::Asked(action, response)
            }
            Stage::Next(LoginStep::Do(action)) => {
                world.store_failures = usize::from(failures && random.below(8) == 0);
                world.answers_are_lost = random.below(2) == 0;
                let now = world.now;
                let step = world.act(&mut machine, action);
                // A wait is a quarter of a second, and all wait at once.
                world.now = now + u64::from(random.below(16) == 0);
                world.store_failures = 0;
                Stage::Next(step)
            }
            Stage::Asked(action, response) => {
                world.responses.push_back(response);
                Stage::Next(world.act(&mut machine, action))
            }
        };
        running.push((machine, stage));
    }
    outcomes
}

const ORDERS: u64 = 200;

/// Clients and handlers in several processes renew a login at once: the provider is never sent a token that it has
/// replaced, each of them succeeds or may try again, and the login continues.
#[test]
fn renewals_that_meet_lose_nothing() {
    for order in 0..ORDERS {
        let failures = order % 2 == 1;
        let mut world = World::new();
        let (client, access, refresh) = world.tokens();
        let claims = world.check(&access).unwrap();
        let login: String = claims.get(LOGIN_CLAIM).unwrap().unwrap();
        let form = refresh_form(&client, &refresh);
        // The token of the provider is about to expire.
        world.now += 3_590;
        let exchange =
            |world: &World| Request::Exchange(world.exchange(&Sent::post("/token", &*form)));
        let handler = || Request::Handler(ProviderTokenRequest::new(login.clone()));
        let requests = Vec::from([exchange(&world), handler(), exchange(&world), handler()]);
        let mut provider = Provider::new();
        let random = &mut Random(order);
        let outcomes = race(&mut world, &mut provider, random, failures, requests);
        assert!(!provider.has_ended, "{order}");
        let mut latest = refresh.clone();
        for (status, body) in outcomes {
            assert!(
                status == 200 || failures && status == 503,
                "{order}: {status} {body}"
            );
            if let Ok(body) = serde_json::from_str::<Value>(&body)
                && let Some(token) = body["refresh_token"].as_str()
            {
                latest = token.into();
            }
        }
        // A lease whose end could not be written is over.
        world.now += 60;
        let last = Sent::post("/token", refresh_form(&client, &latest));
        let last = Vec::from([Request::Exchange(world.exchange(&last))]);
        let outcomes = race(&mut world, &mut provider, random, false, last);
        assert_eq!(outcomes[0].0, 200, "{order}: {}", outcomes[0].1);
    }
}

/// A code is exchanged once, and the second use ends what the first one has granted, wherever it is and whenever.
#[test]
fn a_code_that_is_used_twice_at_once_grants_nothing() {
    for order in 0..ORDERS {
        let failures = order % 2 == 1;
        let mut world = World::new();
        let client = world.register(REDIRECT);
        let code = world.log_in(&client);
        let sent = Sent::post("/token", code_form(&client, &code));
        let requests = (0..2).map(|_| Request::Exchange(world.exchange(&sent)));
        let requests = requests.collect();
        let mut provider = Provider::new();
        let outcomes = race(
            &mut world,
            &mut provider,
            &mut Random(order),
            failures,
            requests,
        );
        let granted = outcomes.iter().filter(|(status, _)| *status == 200).count();
        assert!(granted <= 1, "{order}");
        if !failures {
            assert!(granted == 1 && world.store.is_empty(), "{order}");
        }
    }
}

/// A revocation that has succeeded is not undone by a renewal that was under way.
#[test]
fn a_revocation_that_meets_renewals_wins() {
    for order in 0..ORDERS {
        let mut world = World::new();
        let (client, access, refresh) = world.tokens();
        let form = refresh_form(&client, &refresh);
        let sent = [
            Sent::post("/revoke", format!("token={refresh}")),
            Sent::post("/token", &*form),
            Sent::post("/token", &*form),
        ];
        let requests = sent
            .iter()
            .map(|sent| Request::Exchange(world.exchange(sent)));
        let requests = requests.collect();
        let mut provider = Provider::new();
        let outcomes = race(
            &mut world,
            &mut provider,
            &mut Random(order),
            false,
            requests,
        );
        assert!(outcomes.iter().any(|(_, body)| body == "{}"), "{order}");
        assert!(world.store.is_empty(), "{order}");
        assert!(world.check(&access).is_none());
        let again = world.token(&form);
        assert_eq!(text(&again, "error"), "invalid_grant");
    }
}
