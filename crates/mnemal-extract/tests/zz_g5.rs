//! scratch
use mnemal_extract::{Anchor, DateRules, Dated, Lean};
use mnemal_core::{Timestamp, Zone};
fn field(line: &str, key: &str) -> Option<String> {
    let at = line.find(&format!("\"{key}\": "))? + key.len() + 4;
    let rest = &line[at..];
    if let Some(rest) = rest.strip_prefix('"') { return Some(rest[..rest.find('"')?].to_owned()); }
    Some(rest[..rest.find([',', '}'])?].to_owned())
}
#[test]
fn g5() {
    let Ok(lang) = std::env::var("G5LANG") else { return };
    let text = std::fs::read_to_string(std::env::var("G5PACK").unwrap()).unwrap();
    let rules = match DateRules::parse(&text) { Ok(rules) => rules, Err(error) => { println!("{error}"); panic!() } };
    let (mut good, mut all, mut wrong) = (0, 0, 0);
    for line in std::fs::read_to_string(format!("/tmp/g5x_{lang}/dates.jsonl")).unwrap().lines() {
        let at = field(line, "at").unwrap();
        let stamp: jiff::Timestamp = at.parse().unwrap();
        let zone = Zone { name: field(line, "tz").unwrap(), offset_seconds: 0 };
        let tz = jiff::tz::TimeZone::get(&zone.name).unwrap();
        let anchor = Anchor { at: Timestamp::from_micros(stamp.as_microsecond()).unwrap(), zone: &zone };
        let text = field(line, "text").unwrap();
        all += 1;
        let civil = |seconds: Option<i64>| seconds.map(|s| jiff::Timestamp::from_second(s).unwrap().to_zoned(tz.clone()).strftime("%Y-%m-%dT%H:%M:%S").to_string());
        let mut ok = false; let mut shown = Vec::new();
        for lean in [Lean::Past, Lean::Future] {
            let found = rules.read(&text, &anchor, lean);
            if line.contains("\"refused\": true") { ok |= found.iter().all(|d| matches!(d, Dated::Recurring(_) | Dated::Refused(_))); shown.push(format!("{found:?}")); continue; }
            for d in &found { if let Some(w) = d.when() {
                let s = civil(w.start.map(|t| t.as_seconds())); let e = civil(w.end.map(|t| t.as_seconds()));
                let grain = format!("{:?}", w.grain).to_lowercase();
                let span = &text[w.span.start as usize..w.span.end as usize];
                shown.push(format!("[{span}] {s:?} {e:?} {grain}"));
                ok |= s.as_deref() == field(line, "start").as_deref().filter(|t| *t != "null") && (e == field(line, "end").filter(|t| t != "null")) && grain == field(line, "grain").unwrap() && found.iter().filter(|d| d.when().is_some()).count() == 1;
            } else { shown.push(format!("{d:?}")); } }
        }
        if ok { good += 1 } else { if !shown.is_empty() { wrong += 1 } println!("{} {text} => {shown:?}", field(line, "id").unwrap()); }
    }
    println!("GOOD {good} OF {all} wrong {wrong}");
}
