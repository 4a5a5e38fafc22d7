//! The endpoint's client against a server on the loopback interface; time is tokio's and stands still.

#![cfg(feature = "http")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::error::Error as _;
use std::time::Duration;

use mnemal_core::{BackgroundEmbedder as _, Error, ErrorKind, Result};
use mnemal_providers::{ApiKey, EndpointEmbedder, EndpointSettings};
use mnemal_testkit::{Loopback, ReceivedRequest, ServerReply, permit};
use tokio::time::Instant;

const KEY: &str = "sk-nobody-may-read-this";

fn embedder(base_url: &str) -> EndpointEmbedder {
    let settings = EndpointSettings {
        base_url: base_url.to_owned(),
        model: "small".to_owned(),
        api_key: Some(ApiKey::new(KEY).unwrap()),
        timeout: Duration::from_mins(1),
        max_input_chars: 12,
        seed: 3,
    };
    EndpointEmbedder::new(settings).unwrap()
}

/// Asks a server of these answers, the last of which it repeats, for the vectors of two texts.
async fn ask(answers: Vec<ServerReply>) -> (Result<Vec<Vec<f32>>>, usize, Duration) {
    let told = move |n: usize, _: &ReceivedRequest| answers[n.min(answers.len() - 1)].clone();
    let server = Loopback::start(told).await.unwrap();
    let embedder = embedder(&server.url());
    let begun = Instant::now();
    let answer = embedder.embed(&mut permit(100), &["one", "two"]).await;
    if let Err(error) = &answer {
        assert!(!chain(error).contains(KEY), "{}", chain(error));
    }
    assert!(!format!("{embedder:?}").contains(KEY));
    (answer, server.received().len(), begun.elapsed())
}

/// Everything that an error can show.
fn chain(error: &Error) -> String {
    let mut shown = vec![format!("{error} {error:?}")];
    let mut next = error.source();
    while let Some(cause) = next {
        shown.push(format!("{cause} {cause:?}"));
        next = cause.source();
    }
    shown.join(" ")
}

fn good() -> ServerReply {
    ServerReply::vectors(&[vec![3.0, 4.0], vec![0.0, -2.0]])
}

async fn kind_and_requests(answers: Vec<ServerReply>) -> (ErrorKind, usize) {
    let (answer, requests, _) = ask(answers).await;
    (answer.unwrap_err().kind(), requests)
}

// proves: NB-20
#[tokio::test(start_paused = true)]
async fn texts_are_sent_as_openai_does_and_their_vectors_come_back_in_order() {
    let server = Loopback::start(|_, _| good()).await.unwrap();
    for base in [server.url(), format!("{}/v1/", server.url())] {
        let vectors = embedder(&base).embed(&mut permit(1), &["one", "two and much more"]).await.unwrap();
        assert_eq!(vectors, [[0.6, 0.8], [0.0, -1.0]]);
    }
    for heard in server.received() {
        assert!(heard.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", heard.head);
        assert!(heard.head.contains(&format!("authorization: Bearer {KEY}\r\n")));
        let body: serde_json::Value = serde_json::from_str(&heard.body).unwrap();
        assert_eq!(body, serde_json::json!({"model": "small", "input": ["one", "two and much"]}));
    }
    assert_eq!(embedder(&server.url()).model().as_str(), "endpoint:small");
    assert_eq!(embedder(&server.url()).embed(&mut permit(0), &[]).await.unwrap().len(), 0);
    assert_eq!(server.received().len(), 2, "nothing is asked for no text");
}

#[tokio::test(start_paused = true)]
async fn without_a_permit_nothing_is_sent() {
    let server = Loopback::start(|_, _| good()).await.unwrap();
    let error = embedder(&server.url()).embed(&mut permit(0), &["one"]).await.unwrap_err();
    assert_eq!((error.kind(), server.received().len()), (ErrorKind::Unavailable, 0));
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_waited_for() {
    let busy = || ServerReply::status(500, "", "busy");
    let (answer, requests, took) = ask(vec![busy(), ServerReply::Say(Vec::new()), good()]).await;
    assert_eq!((answer.unwrap().len(), requests), (2, 3), "a failure, a closed connection, an answer");
    assert!(took <= Duration::from_secs(3), "pauses of at most one and two seconds: {took:?}");
    let (_, requests, took) = ask(vec![busy()]).await;
    assert_eq!(requests, 5);
    assert!(took > Duration::from_millis(100) && took <= Duration::from_secs(15), "{took:?}");
    assert_eq!(kind_and_requests(vec![busy()]).await, (ErrorKind::Unavailable, 5));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_endpoint_asks_for_is_kept_and_is_no_attempt() {
    let mut answers = vec![ServerReply::status(429, "Retry-After: 30\r\n", ""); 7];
    answers.push(good());
    let (answer, requests, took) = ask(answers).await;
    assert_eq!((answer.unwrap().len(), requests), (2, 8));
    assert!((Duration::from_secs(210)..Duration::from_secs(211)).contains(&took), "{took:?}");
    let plain = ServerReply::status(429, "", "");
    assert_eq!(kind_and_requests(vec![plain]).await, (ErrorKind::Unavailable, 5));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_used_is_asked_for_twice_more_and_never_half_taken() {
    let json = |body: &str| ServerReply::status(200, "", body);
    for nonsense in [
        ServerReply::vectors(&[vec![1.0, 0.0]]),
        ServerReply::vectors(&[vec![1.0, 0.0], vec![1.0]]),
        ServerReply::vectors(&[vec![1.0, 0.0], vec![0.0, 0.0]]),
        json("{\"data\":[{\"index\":0,\"embedding\":[NaN,0]},{\"index\":1,\"embedding\":[1,0]}]}"),
        json("{\"data\":[{\"index\":0,\"embedding\":[1e39,0]},{\"index\":1,\"embedding\":[1,0]}]}"),
        json("<html>welcome</html>"),
        json(""),
    ] {
        let shown = format!("{nonsense:?}");
        assert_eq!(kind_and_requests(vec![nonsense]).await, (ErrorKind::Unsupported, 3), "{shown}");
    }
    let (answer, requests, _) = ask(vec![json("{\"data\":["), good()]).await;
    assert_eq!((answer.unwrap().len(), requests), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn vectors_of_another_size_than_before_are_refused() {
    let three = || ServerReply::vectors(&[vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]]);
    let server = Loopback::start(move |n, _| if n == 0 { good() } else { three() }).await.unwrap();
    let embedder = embedder(&server.url());
    assert!(embedder.embed(&mut permit(1), &["one", "two"]).await.is_ok());
    let error = embedder.embed(&mut permit(9), &["one", "two"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test(start_paused = true)]
async fn a_body_without_end_is_given_up() {
    let body = format!("{{\"data\":[{}", " ".repeat(2_000_000));
    let (answer, _, _) = ask(vec![ServerReply::status(200, "", &body)]).await;
    assert!(answer.unwrap_err().what().contains("more than"));
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_says_nothing_or_falls_silent_is_late() {
    let (answer, requests, took) = ask(vec![ServerReply::Stall(Vec::new())]).await;
    assert_eq!((answer.unwrap_err().kind(), requests), (ErrorKind::Unavailable, 5));
    assert!((Duration::from_mins(5)..Duration::from_secs(315)).contains(&took), "five minutes: {took:?}");
    let half = b"HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\n{\"data\":".to_vec();
    let (answer, _, took) = ask(vec![ServerReply::Stall(half)]).await;
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!((Duration::from_secs(75)..Duration::from_secs(90)).contains(&took), "five silences: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn what_would_be_refused_again_is_not_repeated() {
    for status in [400, 404, 413, 422] {
        assert_eq!(
            kind_and_requests(vec![ServerReply::status(status, "", "")]).await,
            (ErrorKind::Invalid, 1)
        );
    }
    let away = ServerReply::status(302, "Location: http://169.254.169.254/\r\n", "");
    assert_eq!(
        kind_and_requests(vec![away]).await,
        (ErrorKind::Unsupported, 1),
        "redirects are not followed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_refused_is_not_shown_again() {
    let server = Loopback::start(|_, _| ServerReply::status(401, "", KEY)).await.unwrap();
    let embedder = embedder(&server.url());
    for _ in 0..3 {
        let error = embedder.embed(&mut permit(9), &["one"]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!chain(&error).contains(KEY));
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_at_the_address_and_an_address_of_nobody_are_told_apart() {
    let gone = Loopback::start(|_, _| good()).await.unwrap().url();
    let error = embedder(&gone).embed(&mut permit(9), &["one"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let error = embedder("http://169.254.169.254").embed(&mut permit(9), &["one"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let error =
        embedder("http://[::ffff:169.254.169.254]").embed(&mut permit(9), &["one"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
