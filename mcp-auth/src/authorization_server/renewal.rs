//! Renews what the provider has granted, once at a time, for a client that refreshes or for a handler.

use alloc::boxed::Box;
use alloc::string::String;

use super::context::LoginContext;
use super::provider_call::{read_subject, read_tokens, read_user, refresh_request, user_request};
use super::records::{Lease, LoginRecord, ProviderRecord};
use super::response::RequestError;
use super::step::{LoginAction, LoginInput, LoginStep};
use crate::error::{AuthError, Document, Problem, printable};
use crate::{HttpRequest, HttpResponse, Secret};

/// The purpose of a renewal.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Demand {
    /// A client has sent the refresh token of this number.
    Refresh { client_id: String, generation: u64 },
    /// A handler needs an access token of the provider.
    Token,
}

/// The reason for which a login is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginError {
    /// The login has ended, at the provider for this reason: the user must log in again.
    Ended(Option<Box<AuthError>>),
    /// The provider, for this reason, or the store does not answer now. The login may be used again later, unless the
    /// provider has replaced its tokens and the store has not taken the new ones.
    Unavailable(Option<Box<AuthError>>),
}

impl core::fmt::Display for LoginError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Ended(_) => "the login at the provider has ended",
            Self::Unavailable(_) => "the provider, or the store of logins, does not answer",
        })
    }
}

impl core::error::Error for LoginError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        let (Self::Ended(cause) | Self::Unavailable(cause)) = self;
        cause.as_ref().map(|cause| &**cause as _)
    }
}

/// The login as it is after a renewal.
pub(super) type Renewed = Result<Box<LoginRecord>, LoginError>;

/// A renewal. It asks the provider while it holds a lease in the record, so that a token that the provider
/// replaces is never sent twice.
pub(super) struct Renewal {
    login: String,
    demand: Demand,
    stage: Stage,
    /// The number of times that the record may still be loaded.
    tries: u32,
    /// The provider was asked, and its outcome has tries of its own.
    has_asked: bool,
}

enum Stage {
    Begin,
    /// The record is awaited: to look only, or to change it.
    Look,
    Load,
    Waiting,
    /// The lease is being written.
    Leased(Box<LoginRecord>, u32, Lease),
    /// It may have been written: the record is loaded after a while.
    Unsure(Lease),
    Asked(Box<LoginRecord>, u32, Lease),
    /// The outcome is being written; the record may have to be loaded again for it, after a while.
    Settling(Outcome, Lease),
    Settle(Outcome, Lease),
    /// The record is being removed, because of a refresh token that was replaced.
    Revoking,
    Ended,
}

/// The answer of the provider.
enum Outcome {
    Tokens(Box<ProviderRecord>, Option<Box<LoginRecord>>),
    /// It has ended the login.
    Refused(Option<Box<AuthError>>),
    /// It has not answered.
    Failed(Option<Box<AuthError>>),
}

/// The time for which a lease counts, in seconds: longer than a request may take.
const LEASE: u64 = 60;

/// The most times that a record is loaded before the provider is asked, and after that: with a wait between, ten seconds. The lease
/// of a process that has ended with it may last longer, and clients try again.
const TRIES: u32 = 40;

/// The seconds for which a client may repeat a refresh whose response it did not receive.
const REPEAT: u64 = 30;

/// The seconds before its end at which an access token of the provider is replaced. Some last for a minute only.
const MARGIN: u64 = 15;

impl Renewal {
    pub(super) fn new(login: String, demand: Demand) -> Self {
        Self {
            login,
            demand,
            stage: Stage::Begin,
            tries: TRIES,
            has_asked: false,
        }
    }

    pub(super) fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<Renewed> {
        match (core::mem::replace(&mut self.stage, Stage::Ended), input) {
            (Stage::Begin, LoginInput::Start) | (Stage::Waiting, LoginInput::Waited) => {
                self.load(Stage::Look, false)
            }
            (Stage::Look, LoginInput::Record(record)) => {
                match self.read(context, record.map(|(_, record)| record)) {
                    None => ended(),
                    Some(login) if self.is_fresh(context, &login) => LoginStep::Done(Ok(login)),
                    Some(login) if is_leased(context, &login) => {
                        self.stage = Stage::Waiting;
                        LoginStep::Do(LoginAction::Wait)
                    }
                    Some(_) => self.load(Stage::Load, true),
                }
            }
            (Stage::Load, LoginInput::Record(record)) => self.begin(context, record),
            (Stage::Leased(login, version, lease), LoginInput::Written(true)) => {
                self.ask(context, login, version, lease)
            }
            (Stage::Leased(_, _, lease) | Stage::Unsure(lease), LoginInput::Failed(_)) => {
                self.stage = Stage::Unsure(lease);
                LoginStep::Do(LoginAction::Wait)
            }
            (Stage::Unsure(lease), LoginInput::Waited) => self.load(Stage::Unsure(lease), true),
            (Stage::Unsure(lease), LoginInput::Record(record)) => {
                match self.leased(context, record, &lease) {
                    // The provider is asked within the time of a lease, and some of it has passed.
                    Some((version, login)) => self.take_lease(context, login, version),
                    None => self.begin(context, record),
                }
            }
            // Another one was faster.
            (Stage::Leased(..), LoginInput::Written(false)) => self.load(Stage::Look, false),
            (Stage::Asked(login, version, lease), LoginInput::Response(response)) => {
                let outcome = read_outcome(context, &login, &response);
                self.settle(context, login, version, outcome, lease)
            }
            (Stage::Asked(login, version, lease), LoginInput::Failed(text)) => {
                let problem = Problem::Unreachable(printable(text, 200));
                let cause = AuthError::new(Document::TokenResponse, "", problem);
                let outcome = Outcome::Failed(Some(Box::new(cause)));
                self.settle(context, login, version, outcome, lease)
            }
            (Stage::Settling(outcome, _), LoginInput::Written(true)) => {
                LoginStep::Done(match outcome {
                    Outcome::Tokens(_, Some(login)) => Ok(login),
                    Outcome::Tokens(_, None) => unavailable(None),
                    Outcome::Refused(cause) => Err(LoginError::Ended(cause)),
                    Outcome::Failed(cause) => unavailable(cause),
                })
            }
            (Stage::Settling(outcome, lease), LoginInput::Written(false)) => {
                self.load(Stage::Settle(outcome, lease), true)
            }
            // The provider may have replaced its tokens: they are not lost because the store is away for a moment.
            (
                Stage::Settling(outcome, lease) | Stage::Settle(outcome, lease),
                LoginInput::Failed(_),
            ) => {
                self.stage = Stage::Settle(outcome, lease);
                LoginStep::Do(LoginAction::Wait)
            }
            (Stage::Settle(outcome, lease), LoginInput::Waited) => {
                self.load(Stage::Settle(outcome, lease), true)
            }
            (Stage::Settle(outcome, lease), LoginInput::Record(record)) => {
                match self.leased(context, record, &lease) {
                    Some((version, login)) => self.settle(context, login, version, outcome, lease),
                    // The outcome was written before, or the lease has become that of another process.
                    None => self.begin(context, record),
                }
            }
            (Stage::Revoking, LoginInput::Written(true)) => ended(),
            (Stage::Revoking, LoginInput::Written(false)) => self.load(Stage::Load, true),
            _ => LoginStep::Done(unavailable(None)),
        }
    }

    fn load(&mut self, stage: Stage, to_change: bool) -> LoginStep<Renewed> {
        let Some(tries) = self.tries.checked_sub(1) else {
            return LoginStep::Done(unavailable(None));
        };
        self.tries = tries;
        self.stage = stage;
        let key = LoginRecord::key(&self.login);
        LoginStep::Do(LoginAction::Load { key, to_change })
    }

    fn open(&self, context: &LoginContext<'_>, record: &[u8]) -> Option<Box<LoginRecord>> {
        context.open(&LoginRecord::key(&self.login), record)
    }

    /// Returns the login of a record that has this lease.
    fn leased(
        &self,
        context: &LoginContext<'_>,
        record: Option<(u32, &[u8])>,
        lease: &Lease,
    ) -> Option<(u32, Box<LoginRecord>)> {
        let (version, record) = record?;
        let login = self.open(context, record)?;
        (login.lease.as_ref() == Some(lease)).then_some((version, login))
    }

    /// Returns the login of a record, if its code was used and it has not expired.
    fn read(&self, context: &LoginContext<'_>, record: Option<&[u8]>) -> Option<Box<LoginRecord>> {
        let login = self.open(context, record?)?;
        let lifetime = context.server.settings.login_lifetime;
        let is_over = context.has_passed(lifetime, login.issued);
        (login.challenge.is_none() && !is_over).then_some(login)
    }

    fn is_fresh(&self, context: &LoginContext<'_>, login: &LoginRecord) -> bool {
        let end = login.provider.expires;
        self.demand == Demand::Token && end.is_none_or(|end| end > context.after(MARGIN))
    }

    /// Takes the lease, if the demand is one of this login. A refresh token that was replaced ends the login.
    fn begin(
        &mut self,
        context: &LoginContext<'_>,
        record: Option<(u32, &[u8])>,
    ) -> LoginStep<Renewed> {
        let read = record.map(|(version, record)| (version, self.read(context, Some(record))));
        let Some((version, Some(login))) = read else {
            return ended();
        };
        if is_leased(context, &login) || self.is_fresh(context, &login) {
            return self.load(Stage::Look, false);
        }
        if let Demand::Refresh {
            client_id,
            generation,
        } = &self.demand
        {
            if *client_id != login.client_id {
                return ended();
            }
            let is_last = generation.saturating_add(1) == login.generation;
            if is_last && !context.has_passed(REPEAT, login.issued) {
                // Its response was lost: both receive the same refresh token, which is of use once.
                return LoginStep::Done(Ok(login));
            }
            if *generation != login.generation {
                self.stage = Stage::Revoking;
                return self.remove(version);
            }
        }
        self.take_lease(context, login, version)
    }

    fn take_lease(
        &mut self,
        context: &LoginContext<'_>,
        mut login: Box<LoginRecord>,
        version: u32,
    ) -> LoginStep<Renewed> {
        let Ok(id) = context.random_text() else {
            return LoginStep::Done(unavailable(None));
        };
        let lease = Lease {
            id,
            until: context.after(LEASE),
        };
        login.lease = Some(lease.clone());
        let step = self.save(context, &login, version);
        if matches!(step, LoginStep::Do(_)) {
            self.stage = Stage::Leased(login, version, lease);
        }
        step
    }

    /// Asks the provider for new tokens, or whether it still accepts those that it does not replace (AU-14).
    fn ask(
        &mut self,
        context: &LoginContext<'_>,
        login: Box<LoginRecord>,
        version: u32,
        lease: Lease,
    ) -> LoginStep<Renewed> {
        if !core::mem::replace(&mut self.has_asked, true) {
            self.tries = TRIES;
        }
        match provider_request(context, &login.provider) {
            Ok(Some(request)) => {
                self.stage = Stage::Asked(login, version, lease);
                LoginStep::Do(LoginAction::Send(request))
            }
            Ok(None) => {
                let end = login.provider.expires;
                let outcome = match end.is_some_and(|end| end <= context.now) {
                    true => Outcome::Refused(None),
                    false => Outcome::Tokens(Box::new(login.provider.clone()), None),
                };
                self.settle(context, login, version, outcome, lease)
            }
            Err(error) => {
                let outcome = Outcome::Failed(Some(Box::new(error)));
                self.settle(context, login, version, outcome, lease)
            }
        }
    }

    /// Writes the outcome, and gives the lease back.
    fn settle(
        &mut self,
        context: &LoginContext<'_>,
        mut login: Box<LoginRecord>,
        version: u32,
        outcome: Outcome,
        lease: Lease,
    ) -> LoginStep<Renewed> {
        login.lease = None;
        let (step, outcome) = match outcome {
            Outcome::Refused(cause) => (self.remove(version), Outcome::Refused(cause)),
            Outcome::Failed(cause) => (self.save(context, &login, version), Outcome::Failed(cause)),
            Outcome::Tokens(tokens, _) => {
                login.provider = (*tokens).clone();
                if let Demand::Refresh { .. } = self.demand {
                    login.generation = login.generation.saturating_add(1);
                    login.issued = context.now;
                }
                let step = self.save(context, &login, version);
                (step, Outcome::Tokens(tokens, Some(login)))
            }
        };
        if matches!(step, LoginStep::Do(_)) {
            self.stage = Stage::Settling(outcome, lease);
        }
        step
    }

    fn save(
        &self,
        context: &LoginContext<'_>,
        login: &LoginRecord,
        version: u32,
    ) -> LoginStep<Renewed> {
        match save_login(context, &self.login, login, version) {
            Ok(action) => LoginStep::Do(action),
            Err(_) => LoginStep::Done(unavailable(None)),
        }
    }

    fn remove(&self, version: u32) -> LoginStep<Renewed> {
        let key = LoginRecord::key(&self.login);
        LoginStep::Do(LoginAction::Remove { key, version })
    }
}

/// Returns the action that replaces the record of a login.
pub(super) fn save_login(
    context: &LoginContext<'_>,
    id: &str,
    login: &LoginRecord,
    version: u32,
) -> Result<LoginAction, RequestError> {
    let key = LoginRecord::key(id);
    let lifetime = context.server.settings.login_lifetime;
    let end = login.issued.saturating_add(lifetime).as_secs();
    Ok(LoginAction::Save {
        record: context.seal(&key, login)?,
        key,
        version,
        keep: end.saturating_sub(context.now.as_secs()),
    })
}

const fn unavailable(cause: Option<Box<AuthError>>) -> Renewed {
    Err(LoginError::Unavailable(cause))
}

fn ended() -> LoginStep<Renewed> {
    LoginStep::Done(Err(LoginError::Ended(None)))
}

fn is_leased(context: &LoginContext<'_>, login: &LoginRecord) -> bool {
    let lease = login.lease.as_ref();
    lease.is_some_and(|lease| !context.is_over(lease.until, LEASE))
}

fn provider_request(
    context: &LoginContext<'_>,
    tokens: &ProviderRecord,
) -> Result<Option<HttpRequest>, AuthError> {
    match &tokens.refresh_token {
        Some(token) => refresh_request(context, tokens, token).map(Some),
        None => Ok(user_request(context, &tokens.access_token)),
    }
}

fn read_outcome(
    context: &LoginContext<'_>,
    login: &LoginRecord,
    response: &HttpResponse<'_>,
) -> Outcome {
    let before = &login.provider;
    let read = match &before.refresh_token {
        Some(token) => {
            let secrets = [Secret::from(token.as_str())];
            let tokens = read_tokens(context, response, Some(before), &secrets);
            let named = read_subject(context, response);
            tokens.map(|tokens| (tokens, named.unwrap_or_else(|| login.subject.clone())))
        }
        None => read_user(context, response).map(|user| (before.clone(), user.subject)),
    };
    match read {
        Ok((tokens, subject)) if subject == login.subject => {
            Outcome::Tokens(Box::new(tokens), None)
        }
        // They are tokens of another user.
        Ok(_) => Outcome::Refused(None),
        // The API answers so about a token that was revoked.
        Err(error) if before.refresh_token.is_none() && response.status == 401 => {
            Outcome::Refused(Some(Box::new(error)))
        }
        Err(error) if is_final(&error) => Outcome::Refused(Some(Box::new(error))),
        Err(error) => Outcome::Failed(Some(Box::new(error))),
    }
}

/// Returns true if the provider has ended the login. GitHub has a code of its own for it.
fn is_final(error: &AuthError) -> bool {
    matches!(
        error.oauth_error(),
        Some("invalid_grant" | "bad_refresh_token")
    )
}
