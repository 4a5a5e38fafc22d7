//! The client of language models against a server on the loopback interface; time is tokio's and stands still.

#![cfg(feature = "http")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::error::Error as _;
use std::time::Duration;

use mnemal_core::{
    Completion, Error, ErrorKind, LanguageModel as _, Producer, Prompt, Purpose, Result, TokenCount, Usage,
};
use mnemal_providers::{ApiKey, ChatSettings, EndpointModel};
use mnemal_testkit::{Loopback, ReceivedRequest, ServerReply, permit};
use serde_json::{Value, json};
use tokio::time::Instant;

const KEY: &str = "sk-nobody-may-read-this";

fn model(base_url: &str) -> EndpointModel {
    let settings = ChatSettings {
        base_url: base_url.to_owned(),
        model: "small".to_owned(),
        api_key: Some(ApiKey::new(KEY).unwrap()),
        timeout: Duration::from_mins(1),
        seed: 3,
    };
    EndpointModel::new(settings).unwrap()
}

fn prompt(schema: Option<&str>) -> Prompt {
    Prompt {
        purpose: Purpose::Extract,
        producer: Producer { id: "test".to_owned(), version: 1 },
        instructions: "List claims.".to_owned(),
        material: "1: The word is marzipan.".to_owned(),
        schema: schema.map(str::to_owned),
        most: TokenCount(50),
    }
}

async fn serve(answers: Vec<ServerReply>) -> Loopback {
    let told = move |n: usize, _: &ReceivedRequest| answers[n.min(answers.len() - 1)].clone();
    Loopback::start(told).await.unwrap()
}

/// Asks a server of these answers, the last of which it repeats. Nothing of the question or the key is in an error.
async fn ask(answers: Vec<ServerReply>) -> (Result<Completion>, usize, Duration) {
    let server = serve(answers).await;
    let model = model(&server.url());
    let begun = Instant::now();
    let answer = model.complete(&mut permit(100), &prompt(None)).await;
    if let Err(error) = &answer {
        let shown = chain(error);
        assert!(!shown.contains(KEY) && !shown.contains("marzipan"), "{shown}");
    }
    assert!(!format!("{model:?}").contains(KEY));
    (answer, server.received().len(), begun.elapsed())
}

fn chain(error: &Error) -> String {
    let mut shown = vec![format!("{error} {error:?}")];
    let mut next = error.source();
    while let Some(cause) = next {
        shown.push(format!("{cause} {cause:?}"));
        next = cause.source();
    }
    shown.join(" ")
}

fn bodies(server: &Loopback) -> Vec<Value> {
    server.received().iter().map(|heard| serde_json::from_str(&heard.body).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_as_openai_does() {
    let server = serve(vec![ServerReply::words("four words as answer")]).await;
    for base in [server.url(), format!("{}/v1/", server.url())] {
        let answer = model(&base).complete(&mut permit(1), &prompt(None)).await.unwrap();
        assert_eq!(answer.text, "four words as answer");
        assert_eq!(answer.usage, Usage { sent: TokenCount(30), received: TokenCount(5) });
        assert_eq!(answer.model.as_str(), "endpoint:small");
    }
    for heard in server.received() {
        assert!(heard.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", heard.head);
        assert!(heard.head.contains(&format!("authorization: Bearer {KEY}\r\n")));
    }
    let messages = json!([
        {"role": "system", "content": "List claims."},
        {"role": "user", "content": "1: The word is marzipan."},
    ]);
    let whole =
        json!({"model": "small", "messages": messages, "max_tokens": 50, "temperature": 0, "stream": false});
    assert_eq!(bodies(&server)[0], whole);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_without_schemas_is_asked_without_and_only_so_from_then_on() {
    let refuse = |_: usize, heard: &ReceivedRequest| {
        let is_known = !heard.body.contains("response_format");
        if is_known { ServerReply::words("{}") } else { ServerReply::status(400, "", "unknown field") }
    };
    let server = Loopback::start(refuse).await.unwrap();
    let (model, prompt) = (model(&server.url()), prompt(Some("{\"type\":\"object\"}")));
    for _ in 0..2 {
        assert_eq!(model.complete(&mut permit(9), &prompt).await.unwrap().text, "{}");
    }
    let asked = bodies(&server);
    let form = &asked[0]["response_format"];
    assert_eq!(form["json_schema"]["schema"], json!({"type": "object"}));
    assert_eq!(form["type"], "json_schema");
    assert!(asked[1].get("response_format").is_none() && asked[2].get("response_format").is_none());
    assert_eq!(asked.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_refused_with_and_without_its_schema_is_refused() {
    let server = serve(vec![ServerReply::status(422, "", "")]).await;
    let (model, prompt) = (model(&server.url()), prompt(Some("{}")));
    assert_eq!(model.complete(&mut permit(9), &prompt).await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(server.received().len(), 2);
}

/// A server's behavior, the caller's result, and the number of requests.
fn faults() -> Vec<(&'static str, ServerReply, ErrorKind, usize)> {
    let ok = |body: &str| ServerReply::status(200, "", body);
    let huge = format!("{{\"choices\":[{}", " ".repeat(2_000_000));
    let half = b"HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\n{\"choices\":".to_vec();
    let call = "{\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\"}]}";
    vec![
        ("hang", ServerReply::Stall(Vec::new()), ErrorKind::Unavailable, 5),
        ("falls silent", ServerReply::Stall(half), ErrorKind::Unavailable, 5),
        ("closes", ServerReply::Say(Vec::new()), ErrorKind::Unavailable, 5),
        ("429", ServerReply::status(429, "", ""), ErrorKind::Unavailable, 5),
        ("500", ServerReply::status(500, "", "busy"), ErrorKind::Unavailable, 5),
        ("401", ServerReply::status(401, "", KEY), ErrorKind::Invalid, 1),
        ("403", ServerReply::status(403, "", KEY), ErrorKind::Invalid, 1),
        ("404", ServerReply::status(404, "", ""), ErrorKind::Invalid, 1),
        (
            "redirect",
            ServerReply::status(302, "Location: http://169.254.169.254/\r\n", ""),
            ErrorKind::Unsupported,
            1,
        ),
        (
            "HTML",
            ServerReply::status(200, "Content-Type: text/html\r\n", "<html>hi</html>"),
            ErrorKind::Unsupported,
            1,
        ),
        ("empty", ok(""), ErrorKind::Unsupported, 1),
        ("truncated JSON", ok("{\"choices\":[{\"mess"), ErrorKind::Unsupported, 1),
        ("wrong types", ok("{\"choices\":[{\"message\":{\"content\":7}}]}"), ErrorKind::Unsupported, 1),
        ("no choice", ok("{\"choices\":[]}"), ErrorKind::Unsupported, 1),
        ("no words", ServerReply::words(" \n"), ErrorKind::Unsupported, 1),
        ("2 MB", ok(&huge), ErrorKind::Unsupported, 1),
        ("tool call", ServerReply::completion(call, "tool_calls"), ErrorKind::Unsupported, 1),
        (
            "cut off",
            ServerReply::completion("{\"content\":\"{\\\"claims\\\"\"}", "length"),
            ErrorKind::Unsupported,
            1,
        ),
        (
            "held back",
            ServerReply::completion("{\"content\":\"\"}", "content_filter"),
            ErrorKind::Unsupported,
            1,
        ),
        ("only a thought", ServerReply::words("<think>hm"), ErrorKind::Unsupported, 1),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_an_error_of_its_kind_after_its_repetitions() {
    for (name, told, kind, expected) in faults() {
        let (answer, requests, took) = ask(vec![told]).await;
        assert_eq!((answer.unwrap_err().kind(), requests), (kind, expected), "{name}");
        assert!(took < Duration::from_secs(5 * 60 + 16), "{name}: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_waited_for_and_what_was_told_is_no_attempt() {
    let busy = ServerReply::status(503, "", "");
    let (answer, requests, _) =
        ask(vec![busy, ServerReply::Say(Vec::new()), ServerReply::words("at last")]).await;
    assert_eq!((answer.unwrap().text.as_str(), requests), ("at last", 3));
    let mut answers = vec![ServerReply::status(429, "Retry-After: 30\r\n", ""); 7];
    answers.push(ServerReply::words("at last"));
    let (answer, requests, took) = ask(answers).await;
    assert_eq!((answer.is_ok(), requests), (true, 8));
    assert!((Duration::from_secs(210)..Duration::from_secs(211)).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_refused_is_not_shown_again() {
    let server = serve(vec![ServerReply::status(403, "", "")]).await;
    let model = model(&server.url());
    for _ in 0..3 {
        let error = model.complete(&mut permit(9), &prompt(Some("{}"))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_request_is_paid_with_what_it_may_cost() {
    let server = serve(vec![ServerReply::status(500, "", "")]).await;
    let mut three = permit(3);
    let error = model(&server.url()).complete(&mut three, &prompt(None)).await.unwrap_err();
    assert_eq!((error.kind(), server.received().len(), three.left().0), (ErrorKind::Unavailable, 3, 0));
    assert!(model(&server.url()).complete(&mut permit(0), &prompt(None)).await.is_err());
    assert_eq!(server.received().len(), 3, "offline");
}

/// Addresses that can be no endpoint's, as they can be written: those of the metadata of clouds, link-local ones, and ones of
/// nobody.
const NOBODY: [&str; 48] = [
    "169.254.169.254",
    "169.254.169.254:80",
    "169.254.169.254/latest/meta-data",
    "ada@169.254.169.254",
    "2852039166",
    "025177524776",
    "0xa9fea9fe",
    "0xA9FEA9FE",
    "0251.0376.0251.0376",
    "0xa9.0xfe.0xa9.0xfe",
    "0xa9.254.0251.254",
    "169.16689662",
    "169.254.43518",
    "0xa9.0xfea9fe",
    "169.0xfe.43518",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::FFFF:A9FE:A9FE]",
    "[0:0:0:0:0:ffff:a9fe:a9fe]",
    "[0000:0000:0000:0000:0000:ffff:a9fe:a9fe]",
    "[::169.254.169.254]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[fd00:ec2::254]",
    "[fd00:0ec2::0254]",
    "[FD00:EC2::254]",
    "[fd00:ec2:0:0:0:0:0:254]",
    "169.254.0.1",
    "169.254.169.253",
    "169.254.170.2",
    "169.254.255.255",
    "[fe80::1]",
    "[FE80::a9fe:a9fe]",
    "[febf::1]",
    "[fe80:0:0:0:0:0:0:1]",
    "100.100.100.200",
    "100.64.0.1",
    "0x646464c8",
    "1684301000",
    "[::ffff:100.100.100.200]",
    "0.0.0.0",
    "0",
    "[::]",
    "224.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "[ff05::2]",
];

// proves: DF-92 (addresses of metadata and link-local ones are refused however they are written)
#[tokio::test(start_paused = true)]
async fn addresses_of_nobody_and_settings_that_cannot_work_are_refused() {
    let of = |base_url: &str| ChatSettings {
        base_url: base_url.to_owned(),
        model: "m".to_owned(),
        api_key: None,
        timeout: Duration::from_mins(1),
        seed: 1,
    };
    for base in ["", "ftp://host", "http://ada:secret@host/v1", "http://host/?key=1"] {
        let error = EndpointModel::new(of(base)).unwrap_err();
        assert!(error.kind() == ErrorKind::Invalid && !error.to_string().contains("secret"), "{base}");
    }
    for base in NOBODY {
        let asked = match EndpointModel::new(of(&format!("http://{base}"))) {
            Ok(model) => model.complete(&mut permit(9), &prompt(None)).await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert_eq!(asked.unwrap_err().kind(), ErrorKind::Invalid, "{base}");
    }
}
