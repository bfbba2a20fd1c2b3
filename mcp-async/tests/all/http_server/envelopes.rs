//! Forwarded requests and their answers: whose they are, and what is in them.

use core::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, Request};
use http_body_util::Full;
use mcp_async::http::{Forward as _, Http, SessionStore as _, StoreSubscription as _};
use mcp_async::server::{Context, ServerBuilder, StateKeys};
use mcp_proto::server::ListKind;

use crate::http_server::nodes::{
    Process, at, epoch, pass, ping, processes, processes_of, session_of_two,
};
use crate::http_server::wire::Break;
use crate::scripted::{HttpClient, call, post, send_body};
use crate::sim::{now, settle};

const REQUEST: &str = "x-mcp-forwarded";
const ANSWER: &str = "x-mcp-answered";

/// The last byte of an answer that says that the process is not the owner.
const NOT_OWNER: &str = "\u{1}";
/// And one that says that it has taken the request before.
const REPEATED: &str = "\u{3}";

/// The signed message without its MAC of 32 bytes. Bytes that are no text are replaced.
fn signed(headers: &HeaderMap, name: &str) -> String {
    let bytes = URL_SAFE_NO_PAD.decode(&headers[name]).unwrap();
    String::from_utf8_lossy(&bytes[..bytes.len() - 32]).into_owned()
}

/// A request for a session of the first process that the second one has sent, and that did not arrive.
fn captured(first: &Process, second: &Process) -> Request<Bytes> {
    let here = first.open();
    first.wire.take();
    first.wire.push(Break::Unsent);
    first.wire.push(Break::Unsent);
    assert_eq!(at(second, &here).post(&call(1, "run")).status, 503);
    let mut sent = first.wire.take();
    assert_eq!(sent.len(), 2, "one further attempt");
    sent.remove(0)
}

/// The status of the response, and the signed answer in it.
fn deliver(to: &Process, request: &Request<Bytes>) -> (u16, String) {
    let reply = send_body(&to.service, request.clone().map(Full::new));
    let said = reply.headers.contains_key(ANSWER);
    let said = said.then(|| signed(&reply.headers, ANSWER));
    (reply.status.as_u16(), said.unwrap_or_default())
}

#[track_caller]
fn is_refused(to: &Process, request: &Request<Bytes>, expected: &str) {
    let before = to.ran.begun();
    let (_, said) = deliver(to, request);
    assert!(said.ends_with(expected), "{said}");
    assert_eq!(to.ran.begun(), before);
}

#[test]
fn a_forwarded_request_is_served_once() {
    let [first, second] = processes();
    let request = captured(&first, &second);
    let (status, said) = deliver(&first, &request);
    assert_eq!((status, first.ran.begun()), (200, 1), "{said}");
    for seconds in 1..=40 {
        pass(1);
        let reason = match seconds <= 30 {
            true => REPEATED,
            false => "it comes too late, or the clocks of the processes differ",
        };
        is_refused(&first, &request, reason);
    }
}

#[test]
fn a_forwarded_request_that_was_altered_is_refused() {
    let [first, second] = processes();
    let mut request = captured(&first, &second);
    let body = call(1, "work");
    *request.body_mut() = body.into();
    is_refused(&first, &request, "its body is another one");

    let mut request = captured(&first, &second);
    let sent = URL_SAFE_NO_PAD.decode(&request.headers()[REQUEST]).unwrap();
    let method = sent.windows(4).position(|it| it == b"POST").unwrap();
    let mut head = sent.clone();
    head[method..method + 4].copy_from_slice(b"HEAD");
    let unsigned = &sent[..sent.len() - 32];
    for forged in [&*head, unsigned, &sent[1..], &sent[..31], b""] {
        let forged = URL_SAFE_NO_PAD.encode(forged);
        for forged in [&*forged, &format!("{forged}.")] {
            let headers = request.headers_mut();
            headers.insert(REQUEST, forged.parse().unwrap());
            assert_eq!(deliver(&first, &request), (403, String::new()), "{forged}");
        }
    }
    assert_eq!(first.ran.begun(), 0);
}

#[test]
fn a_request_that_other_keys_have_signed_is_refused() {
    let [first] = processes();
    let other = |server: ServerBuilder| server.state_keys(StateKeys::new([8; 32]));
    let [here, there] = processes_of(other, |http| http);
    let request = captured(&here, &there);
    assert_eq!(deliver(&first, &request), (403, String::new()));
    assert_eq!(deliver(&here, &request).0, 200);
}

#[test]
fn a_forwarded_request_has_its_time() {
    let [first, second] = processes();
    let [late, in_time] = [(); 2].map(|()| captured(&first, &second));
    pass(29);
    assert_eq!(deliver(&first, &in_time).0, 200);
    pass(2);
    is_refused(
        &first,
        &late,
        "it comes too late, or the clocks of the processes differ",
    );
    assert_eq!(first.ran.begun(), 1);
}

#[test]
fn a_forwarded_request_is_for_one_process_in_one_lease() {
    let [first, second] = processes();
    let request = captured(&first, &second);
    is_refused(&second, &request, NOT_OWNER);
    let before = first.node.owner().lease;
    first.node.common.flush();
    // A new lease, in a store that has lost the one before.
    pass(6);
    assert_ne!(first.node.owner().lease, before);
    is_refused(&first, &request, NOT_OWNER);
}

/// The request may have run: it is not sent again.
#[test]
fn an_answer_that_its_process_did_not_give_to_this_request_is_none() {
    for broken in [Break::Foreign, Break::Stale, Break::Short, Break::Long] {
        let ([first, _second], here, there) = session_of_two();
        // This answer is as long as the next one.
        assert!(there.post(&call(1, "run")).whole().contains("done"));
        first.wire.take();
        first.wire.push(broken);
        let answer = there.post(&call(2, "run"));
        assert_eq!(answer.status, 503, "{broken:?}");
        assert!(answer.whole().contains("may have run"));
        assert_eq!((first.wire.take().len(), first.ran.begun()), (1, 2));
        // Its owner has not changed.
        assert_eq!(there.post(ping()).status, 200);
        assert_eq!(epoch(&first, &here), 0);
    }
}

/// Something on the way that sends a request again, to its process or to another one.
#[test]
fn a_request_that_was_repeated_on_the_way_runs_once() {
    for repeated in [Break::Twice, Break::Detour] {
        let [first, second] = processes();
        let here = first.open();
        first.wire.take();
        first.wire.push(repeated);
        let answer = at(&second, &here).post(&call(1, "run"));
        assert_eq!(answer.status, 503, "{repeated:?}");
        assert!(answer.whole().contains("may have run"), "{repeated:?}");
        assert_eq!(first.wire.take().len(), 1, "it is not sent again");
        settle();
        assert_eq!(first.ran.begun(), 1, "{repeated:?}");
    }
}

/// The URL of a process is an endpoint for its clients, too, who cannot say that they are processes.
#[test]
fn a_client_is_no_process() {
    let [first, second] = processes();
    let request = captured(&first, &second);
    let answer = now(first.wire.forward({
        let mut request = request.clone();
        request.headers_mut().remove(REQUEST);
        request
    }));
    assert_ne!(answer.unwrap().status(), 200);
    assert_eq!(first.ran.begun(), 0);
}

/// Who can write to the store does not notify the clients.
#[test]
fn a_change_that_no_process_has_signed_is_ignored() {
    let [first, second] = processes();
    let here = first.open();
    let mut stream = here.get(None);
    let mut published = now(first.node.subscribe()).unwrap();
    second.registry.list_changed(ListKind::Tools);
    settle();
    let message = now(published.next()).unwrap();
    assert_eq!(stream.text().matches("list_changed").count(), 1);
    let decoded = URL_SAFE_NO_PAD.decode(&message).unwrap();
    let unsigned = &decoded[..decoded.len() - 32];
    let encoded = URL_SAFE_NO_PAD.encode(unsigned);
    for forged in [&*decoded, unsigned, encoded.as_bytes(), &message[1..]] {
        now(first.node.publish(forged)).unwrap();
        settle();
    }
    assert_eq!(stream.text().matches("list_changed").count(), 0);
    now(first.node.publish(&message)).unwrap();
    settle();
    assert_eq!(stream.text().matches("list_changed").count(), 1);
}

/// The address of a process that has ended is no place for requests.
#[test]
fn the_address_of_a_process_has_its_time() {
    let [first, second] = processes();
    let there = at(&second, &first.open());
    assert_eq!(there.post(ping()).status, 200);
    // The store goes on to say that the process lives, after it has ended.
    let (store, owner) = (first.node.common.store(), first.node.owner());
    let announce = |process: &str, last, announcement: &[u8]| {
        now(store.announce(process, last, announcement, Duration::from_secs(15))).unwrap()
    };
    let mut known = announce("liar", 0, b"").processes.into_iter();
    let last = known.find(|it| it.owner == owner).unwrap().announcement;
    first.kill();
    for _ in 0..20 {
        announce(&owner.process, owner.lease, &last);
        pass(5);
    }
    first.wire.take();
    assert_eq!(there.post(ping()).status, 503);
    assert_eq!(first.wire.take().len(), 0);
}

#[test]
fn credentials_stay_in_the_process_that_they_arrive_at() {
    let head = |server: ServerBuilder| {
        server.tool(
            "head",
            "Shows the fields of a request",
            |(): (), cx: Context| async move {
                let head = cx.http().unwrap();
                Ok(format!("{:?}", head.headers))
            },
        )
    };
    let settings = |http: Http| {
        let names = ["x-request-id", "x-absent"].map(HeaderName::from_static);
        http.forward_headers(names)
    };
    let [first, second] = processes_of(head, settings);
    let here = first.open();
    let secrets = [
        ("authorization", "Bearer t0ken"),
        ("cookie", "id=t0ken"),
        ("dpop", "t0ken"),
        ("proxy-authorization", "t0ken"),
        ("x-api-key", "t0ken"),
    ];
    let known = [
        (
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ),
        ("mcp-extra", "of the protocol"),
        ("x-request-id", "r3quest"),
    ];
    let show = |session: &HttpClient| {
        let body = call(1, "head");
        let mut request = post(&body);
        for (name, value) in secrets.iter().chain(&known) {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        session.send(request).whole()
    };
    assert!(show(&here).contains("t0ken"));
    first.wire.take();
    let seen = show(&at(&second, &here));
    let sent = first.wire.take().remove(0);
    let sent = format!("{sent:?}{}", signed(sent.headers(), REQUEST));
    assert!(
        !seen.contains("t0ken") && !sent.contains("t0ken"),
        "{seen} {sent}"
    );
    for (_, value) in known {
        assert!(seen.contains(value), "{value}: {seen}");
    }
}
