//! Dates in Spanish, Portuguese, Chinese, Japanese and Korean.
#![expect(clippy::unwrap_used, reason = "a test stops where its own data are wrong")]

use jiff::{Timestamp as Moment, tz::TimeZone};
use mnemal_core::{Timestamp, Zone};
use mnemal_extract::{Anchor, DateRules, TimeBias, TimeExpression};

/// Wednesday, 11 March 2026, 18:10 in Madrid.
const NOW: &str = "2026-03-11T17:10:00Z";

fn read(language: &str, text: &str, lean: TimeBias) -> Vec<String> {
    let zone = Zone { name: "Europe/Madrid".to_owned(), offset_seconds: 3600 };
    let now: Moment = NOW.parse().unwrap();
    let anchor = Anchor { at: Timestamp::from_micros(now.as_microsecond()).unwrap(), zone: &zone };
    let civil = |seconds: i64| {
        let zoned = Moment::from_second(seconds).unwrap().to_zoned(TimeZone::get(&zone.name).unwrap());
        zoned.strftime("%Y-%m-%dT%H:%M").to_string()
    };
    let found = DateRules::built_in(language).unwrap().read(text, &anchor, lean);
    let shown = |dated: &TimeExpression| match dated.when() {
        Some(when) => {
            let [start, end] =
                [when.start, when.end].map(|at| at.map_or("…".to_owned(), |at| civil(at.as_seconds())));
            format!("{start} {end}")
        }
        None => "-".to_owned(),
    };
    found.iter().map(shown).collect()
}

fn check(language: &str, cases: &[(&str, TimeBias, &str)]) {
    let wrong: Vec<String> = (cases.iter())
        .filter(|(text, lean, expected)| read(language, text, *lean) != [*expected])
        .map(|(text, lean, expected)| format!("{text}: {:?}, not {expected}", read(language, text, *lean)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn spanish_dates_are_resolved() {
    check(
        "es",
        &[
            ("Anteayer se rompió la lavadora.", TimeBias::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("La boda es el 12 de junio de 2027.", TimeBias::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("Volvimos hace seis días.", TimeBias::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("El domingo pasado nevó.", TimeBias::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("Mañana a las 9:30 hay pleno.", TimeBias::Future, "2026-03-12T09:30 2026-03-12T09:31"),
            ("La obra va del 3 al 9 de abril.", TimeBias::Future, "2026-04-03T00:00 2026-04-10T00:00"),
            ("El mes que viene abrimos.", TimeBias::Future, "2026-04-01T00:00 2026-05-01T00:00"),
            ("Cada jueves hay mercado.", TimeBias::Past, "-"),
            ("En Nochebuena cenamos fuera.", TimeBias::Future, "2026-12-24T00:00 2026-12-25T00:00"),
        ],
    );
}

#[test]
fn portuguese_dates_are_resolved() {
    check(
        "pt",
        &[
            ("Anteontem avariou a máquina.", TimeBias::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("O casamento é a 12 de junho de 2027.", TimeBias::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("Voltámos há seis dias.", TimeBias::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("No domingo passado nevou.", TimeBias::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("Amanhã às 9:30 há reunião.", TimeBias::Future, "2026-03-12T09:30 2026-03-12T09:31"),
            ("A obra vai de 3 a 9 de abril.", TimeBias::Future, "2026-04-03T00:00 2026-04-10T00:00"),
            ("Toda quinta há feira.", TimeBias::Past, "-"),
            ("Na Sexta-feira Santa fechamos.", TimeBias::Future, "2026-04-03T00:00 2026-04-04T00:00"),
        ],
    );
}

#[test]
fn chinese_dates_are_resolved() {
    check(
        "zh",
        &[
            ("前天洗衣机坏了。", TimeBias::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("婚礼在2027年6月12日。", TimeBias::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("六天前我们回来了。", TimeBias::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("上周日下雪了。", TimeBias::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("明天下午三点开会。", TimeBias::Future, "2026-03-12T15:00 2026-03-12T16:00"),
            ("下个月我们开业。", TimeBias::Future, "2026-04-01T00:00 2026-05-01T00:00"),
            ("每周四有集市。", TimeBias::Past, "-"),
            ("国庆节我们去爬山。", TimeBias::Future, "2026-10-01T00:00 2026-10-02T00:00"),
        ],
    );
}

#[test]
fn japanese_dates_are_resolved() {
    check(
        "ja",
        &[
            ("おととい洗濯機が壊れた。", TimeBias::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("昨日は雨だった。", TimeBias::Past, "2026-03-10T00:00 2026-03-11T00:00"),
            ("きのう母と話した。", TimeBias::Past, "2026-03-10T00:00 2026-03-11T00:00"),
            ("今日は忙しい。", TimeBias::Past, "2026-03-11T00:00 2026-03-12T00:00"),
            ("明後日に届きます。", TimeBias::Future, "2026-03-13T00:00 2026-03-14T00:00"),
            ("結婚式は2027年6月12日です。", TimeBias::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("結婚式は二〇二七年六月十二日です。", TimeBias::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("引っ越しは令和8年4月1日です。", TimeBias::Future, "2026-04-01T00:00 2026-04-02T00:00"),
            ("平成元年に生まれた。", TimeBias::Past, "1989-01-01T00:00 1990-01-01T00:00"),
            ("５月３日に会いましょう。", TimeBias::Future, "2026-05-03T00:00 2026-05-04T00:00"),
            ("締め切りは5月3日(日)です。", TimeBias::Future, "2026-05-03T00:00 2026-05-04T00:00"),
            ("六日前に帰ってきた。", TimeBias::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("3週間前に始めた。", TimeBias::Past, "2026-02-16T00:00 2026-02-23T00:00"),
            ("2か月前に退職した。", TimeBias::Past, "2026-01-01T00:00 2026-02-01T00:00"),
            ("二年前に知り合った。", TimeBias::Past, "2024-01-01T00:00 2025-01-01T00:00"),
            ("10日後に出発する。", TimeBias::Future, "2026-03-21T00:00 2026-03-22T00:00"),
            ("先週の日曜日に雪が降った。", TimeBias::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("来週の月曜に会議がある。", TimeBias::Future, "2026-03-16T00:00 2026-03-17T00:00"),
            ("今週の金曜日は休みです。", TimeBias::Future, "2026-03-13T00:00 2026-03-14T00:00"),
            ("先週末に山へ行った。", TimeBias::Past, "2026-03-07T00:00 2026-03-09T00:00"),
            ("先週は何をした？", TimeBias::Past, "2026-03-02T00:00 2026-03-09T00:00"),
            ("再来週に試験がある。", TimeBias::Future, "2026-03-23T00:00 2026-03-30T00:00"),
            ("来月開店します。", TimeBias::Future, "2026-04-01T00:00 2026-05-01T00:00"),
            ("先月は誰に会った？", TimeBias::Past, "2026-02-01T00:00 2026-03-01T00:00"),
            ("先月の15日に買った。", TimeBias::Past, "2026-02-15T00:00 2026-02-16T00:00"),
            ("今月末に払う。", TimeBias::Future, "2026-03-21T00:00 2026-04-01T00:00"),
            ("4月上旬に桜が咲く。", TimeBias::Future, "2026-04-01T00:00 2026-04-11T00:00"),
            ("去年の夏に京都へ行った。", TimeBias::Past, "2025-06-01T00:00 2025-09-01T00:00"),
            ("昨年12月に買った車だ。", TimeBias::Past, "2025-12-01T00:00 2026-01-01T00:00"),
            ("おととし卒業した。", TimeBias::Past, "2024-01-01T00:00 2025-01-01T00:00"),
            ("来年の元日に会おう。", TimeBias::Future, "2027-01-01T00:00 2027-01-02T00:00"),
            ("1990年代に流行った。", TimeBias::Past, "1990-01-01T00:00 2000-01-01T00:00"),
            ("明日の午後3時に会議です。", TimeBias::Future, "2026-03-12T15:00 2026-03-12T16:00"),
            ("明日の朝8時に出る。", TimeBias::Future, "2026-03-12T08:00 2026-03-12T09:00"),
            ("あさっての午前10時30分に来て。", TimeBias::Future, "2026-03-13T10:30 2026-03-13T10:31"),
            ("金曜日の午後7時半に予約した。", TimeBias::Future, "2026-03-13T19:30 2026-03-13T19:31"),
            ("昨夜は眠れなかった。", TimeBias::Past, "2026-03-10T18:00 2026-03-11T00:00"),
            ("明日の夕方に電話する。", TimeBias::Future, "2026-03-12T18:00 2026-03-13T00:00"),
            ("4月3日から9日まで工事です。", TimeBias::Future, "2026-04-03T00:00 2026-04-10T00:00"),
            ("5月1日から5月7日まで休む。", TimeBias::Future, "2026-05-01T00:00 2026-05-08T00:00"),
            ("月曜から金曜まで働く。", TimeBias::Future, "2026-03-16T00:00 2026-03-21T00:00"),
            ("毎週木曜日に市場がある。", TimeBias::Past, "-"),
            ("毎朝走っている。", TimeBias::Past, "-"),
            ("母の日に花を贈る。", TimeBias::Future, "2026-05-10T00:00 2026-05-11T00:00"),
            ("大晦日に集まった。", TimeBias::Past, "2025-12-31T00:00 2026-01-01T00:00"),
            ("クリスマスイブに会った。", TimeBias::Past, "2025-12-24T00:00 2025-12-25T00:00"),
            ("会議は2026-03-20です。", TimeBias::Future, "2026-03-20T00:00 2026-03-21T00:00"),
            ("2023年に東京へ引っ越した。", TimeBias::Past, "2023-01-01T00:00 2024-01-01T00:00"),
            ("2023年5月の旅行はどこだった？", TimeBias::Past, "2023-05-01T00:00 2023-06-01T00:00"),
        ],
    );
}

#[test]
fn korean_dates_are_resolved() {
    check(
        "ko",
        &[
            ("그저께 세탁기가 고장났어요.", TimeBias::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("어제는 비가 왔어.", TimeBias::Past, "2026-03-10T00:00 2026-03-11T00:00"),
            ("그건 어제였어요.", TimeBias::Past, "2026-03-10T00:00 2026-03-11T00:00"),
            ("오늘은 바빠요.", TimeBias::Past, "2026-03-11T00:00 2026-03-12T00:00"),
            ("모레 도착해요.", TimeBias::Future, "2026-03-13T00:00 2026-03-14T00:00"),
            ("결혼식은 2027년 6월 12일입니다.", TimeBias::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("5월 3일에 만나자.", TimeBias::Future, "2026-05-03T00:00 2026-05-04T00:00"),
            ("마감은 5월 3일(일)입니다.", TimeBias::Future, "2026-05-03T00:00 2026-05-04T00:00"),
            ("6일 전에 돌아왔어요.", TimeBias::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("사흘 전에 돌아왔어요.", TimeBias::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("3주 전에 시작했어.", TimeBias::Past, "2026-02-16T00:00 2026-02-23T00:00"),
            ("일주일 전에 샀어.", TimeBias::Past, "2026-03-02T00:00 2026-03-09T00:00"),
            ("두 달 전에 퇴사했어요.", TimeBias::Past, "2026-01-01T00:00 2026-02-01T00:00"),
            ("2년 전에 알게 됐어.", TimeBias::Past, "2024-01-01T00:00 2025-01-01T00:00"),
            ("삼 년 전 일이야.", TimeBias::Past, "2023-01-01T00:00 2024-01-01T00:00"),
            ("열흘 뒤에 출발해요.", TimeBias::Future, "2026-03-21T00:00 2026-03-22T00:00"),
            ("지난주 일요일에 눈이 왔어.", TimeBias::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("다음 주 월요일에 회의가 있어요.", TimeBias::Future, "2026-03-16T00:00 2026-03-17T00:00"),
            ("이번 주 금요일은 쉬어요.", TimeBias::Future, "2026-03-13T00:00 2026-03-14T00:00"),
            ("지난 금요일에 만났어.", TimeBias::Past, "2026-03-06T00:00 2026-03-07T00:00"),
            ("지난 주말에 산에 갔어.", TimeBias::Past, "2026-03-07T00:00 2026-03-09T00:00"),
            ("지난주에 뭐 했어?", TimeBias::Past, "2026-03-02T00:00 2026-03-09T00:00"),
            ("다다음 주에 시험이 있어.", TimeBias::Future, "2026-03-23T00:00 2026-03-30T00:00"),
            ("다음 달에 개업해요.", TimeBias::Future, "2026-04-01T00:00 2026-05-01T00:00"),
            ("지난달에 누구를 만났지?", TimeBias::Past, "2026-02-01T00:00 2026-03-01T00:00"),
            ("지난달 15일에 샀어.", TimeBias::Past, "2026-02-15T00:00 2026-02-16T00:00"),
            ("이번 달 말에 낼게.", TimeBias::Future, "2026-03-21T00:00 2026-04-01T00:00"),
            ("4월 초에 벚꽃이 핀다.", TimeBias::Future, "2026-04-01T00:00 2026-04-11T00:00"),
            ("작년 여름에 제주도에 갔어.", TimeBias::Past, "2025-06-01T00:00 2025-09-01T00:00"),
            ("작년 12월에 산 차야.", TimeBias::Past, "2025-12-01T00:00 2026-01-01T00:00"),
            ("재작년에 졸업했어요.", TimeBias::Past, "2024-01-01T00:00 2025-01-01T00:00"),
            ("올해는 이사했다.", TimeBias::Past, "2026-01-01T00:00 2027-01-01T00:00"),
            ("1990년대에 유행했어.", TimeBias::Past, "1990-01-01T00:00 2000-01-01T00:00"),
            ("내일 오후 3시에 회의예요.", TimeBias::Future, "2026-03-12T15:00 2026-03-12T16:00"),
            ("내일 오후 세 시에 회의예요.", TimeBias::Future, "2026-03-12T15:00 2026-03-12T16:00"),
            ("내일 아침 8시에 나가.", TimeBias::Future, "2026-03-12T08:00 2026-03-12T09:00"),
            ("모레 오전 10시 30분에 와.", TimeBias::Future, "2026-03-13T10:30 2026-03-13T10:31"),
            ("금요일 저녁 7시 반에 예약했어.", TimeBias::Future, "2026-03-13T19:30 2026-03-13T19:31"),
            ("내일 저녁에 전화할게.", TimeBias::Future, "2026-03-12T18:00 2026-03-13T00:00"),
            ("4월 3일부터 9일까지 공사해요.", TimeBias::Future, "2026-04-03T00:00 2026-04-10T00:00"),
            ("5월 1일부터 5월 7일까지 쉬어.", TimeBias::Future, "2026-05-01T00:00 2026-05-08T00:00"),
            ("월요일부터 금요일까지 일해.", TimeBias::Future, "2026-03-16T00:00 2026-03-21T00:00"),
            ("매주 목요일에 시장이 열려요.", TimeBias::Past, "-"),
            ("매일 달려요.", TimeBias::Past, "-"),
            ("토요일마다 등산을 가요.", TimeBias::Past, "-"),
            ("어린이날에 놀이공원에 갔어.", TimeBias::Past, "2025-05-05T00:00 2025-05-06T00:00"),
            ("설날에 할머니 댁에 갔어.", TimeBias::Past, "2026-02-17T00:00 2026-02-18T00:00"),
            ("내년 설날에 만나자.", TimeBias::Future, "2027-02-07T00:00 2027-02-08T00:00"),
            ("회의는 2026-03-20입니다.", TimeBias::Future, "2026-03-20T00:00 2026-03-21T00:00"),
            ("2023년에 서울로 이사했어.", TimeBias::Past, "2023-01-01T00:00 2024-01-01T00:00"),
            ("2023년 5월 여행은 어디였지?", TimeBias::Past, "2023-05-01T00:00 2023-06-01T00:00"),
        ],
    );
}

#[test]
fn words_that_look_like_dates_are_none_in_japanese_and_korean() {
    let texts = [
        ("ja", "日本語を勉強している。"),
        ("ja", "彼は三人兄弟だ。"),
        ("ja", "先日はありがとう。"),
        ("ja", "お時間ありますか。"),
        ("ja", "鍵はどこですか。"),
        ("ja", "来日した友人。"),
        ("ja", "春香さんに会った。"),
        ("ja", "りんごを3個ください。"),
        ("ko", "이 일은 어려워요."),
        ("ko", "한국어를 공부하고 있어."),
        ("ko", "오늘날 사람들은 바쁘다."),
        ("ko", "오시는 길을 알려 줘."),
        ("ko", "시간이 있어요?"),
        ("ko", "이해가 안 돼요."),
        ("ko", "설명해 주세요."),
        ("ko", "사과 3개 주세요."),
        ("ko", "주말농장을 해요."),
        ("ko", "일본에 가고 싶어요."),
    ];
    for (language, text) in texts {
        assert_eq!(read(language, text, TimeBias::Past), [""; 0], "{text}");
    }
}

#[test]
fn half_more_than_one_is_no_half() {
    let half =
        |language, text| check(language, &[(text, TimeBias::Past, "2024-09-01T00:00 2024-10-01T00:00")]);
    // English counts months back to the day.
    let day = "2024-09-11T00:00 2024-09-12T00:00";
    check("en", &[("A year and a half ago we moved.", TimeBias::Past, day)]);
    half("de", "Vor anderthalb Jahren sind wir umgezogen.");
    half("fr", "Il y a un an et demi, nous avons déménagé.");
    half("es", "Hace un año y medio nos mudamos.");
    half("pt", "Há um ano e meio mudámos de casa.");
    half("zh", "一年半前我们搬了家。");
    half("zh", "我们十八个月前搬了家。");
}

#[test]
fn a_week_of_a_year_and_a_year_of_two_digits_are_read() {
    let week = "2024-12-30T00:00 2025-01-06T00:00";
    for (language, text) in [
        ("en", "In 2025-W01 we moved."),
        ("en", "We moved in 2025W01."),
        ("de", "In KW 1/2025 sind wir umgezogen."),
        ("de", "Der Umzug war in KW 01 2025."),
        ("fr", "Nous avons déménagé la semaine 1 de 2025."),
        ("es", "Nos mudamos en 2025-W01."),
    ] {
        check(language, &[(text, TimeBias::Past, week)]);
    }
    let since = "1998-01-01T00:00 …";
    for (language, text) in [
        ("en", "I have lived here since '98."),
        ("de", "Ich wohne seit ’98 hier."),
        ("fr", "J'habite ici depuis '98."),
        ("es", "Vivo aquí desde '98."),
        ("pt", "Moro aqui desde '98."),
    ] {
        check(language, &[(text, TimeBias::Past, since)]);
    }
    assert_eq!(read("en", "It's 12 people and the '20 of them.", TimeBias::Past).len(), 0);
}
