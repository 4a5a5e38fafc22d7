//! Subjects of claims: names, endings, and statements about third parties.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mnemal_core::{
        Act, Body, ChannelId, EntityKind, Event, EventId, EventKind, ExtractedFact, Extraction,
        Extractor as _, Gazetteer, Level, NewEvent, Origin, Seq, SessionId, Subject, Timestamp, Trust,
        Utterance, Zone,
    };
    use mnemal_extract::RuleExtractor;

    /// Thursday, 5 March 2026.
    const NOW: i64 = 1_772_733_000_000_000;

    fn event(text: &str) -> Event {
        let at = Timestamp::from_micros(NOW).unwrap();
        let said = NewEvent {
            kind: EventKind::UserMessage,
            content: text.to_owned(),
            session: SessionId::new("s").unwrap(),
            channel: ChannelId::new("test").unwrap(),
            parent: None,
            speaker: None,
            user: None,
            agent: None,
            occurred_at: at,
            zone: Zone::utc(),
            origin: Origin::UserDirect,
            idempotency_key: None,
            metadata: BTreeMap::new(),
        };
        Event {
            id: EventId(1),
            seq: Seq(1),
            recorded_at: at,
            role: said.kind.role(),
            trust: Trust::User,
            level: Level::User,
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(said)),
        }
    }

    /// Reads a turn in a space that knows these animals.
    fn read(text: &str, animals: &[&str]) -> Extraction {
        let mut known = Gazetteer::default();
        for animal in animals {
            known.add(animal, EntityKind::Animal);
        }
        let event = event(text);
        RuleExtractor::new().extract(&Utterance { event: &event, before: &[], known: &known })
    }

    fn of<'e>(found: &'e Extraction, predicate: &str) -> Vec<&'e ExtractedFact> {
        found.facts.iter().filter(|fact| fact.predicate.as_str() == predicate).collect()
    }

    fn objects(text: &str, predicate: &str) -> Vec<String> {
        let found = read(text, &[]);
        of(&found, predicate).into_iter().map(|fact| fact.object.text.clone()).collect()
    }

    #[test]
    fn who_belongs_to_somebody_has_not_his_name() {
        for text in [
            "I'm Maria's brother.",
            "I am Anna's mother.",
            "I'm Ben's new doctor.",
            "Hi, I'm Priya's landlord and need help.",
            "I am Tom's oldest friend.",
            "Ich bin Marias Bruder.",
            "Ich bin der Bruder von Maria.",
            "Je suis le frère de Maria.",
            "Je suis la mère d'Anna.",
            "Soy el hermano de María.",
            "Sou a mãe da Ana.",
            "我是小明的哥哥。",
        ] {
            assert_eq!(objects(text, "name"), Vec::<String>::new(), "{text}");
        }
        assert_eq!(objects("I'm Milo's manager.", "role"), ["Milo's manager"]);
    }

    #[test]
    fn what_is_signed_shouted_or_a_title_is_nobodys_name() {
        for text in [
            "Sign it as Otto.",
            "Sign the letter as Otto, please.",
            "Sign off as Otto.",
            "Unterschreib mit Otto.",
            "Firma como Otto.",
            "Assine como Otto.",
            "Thanks, I'm Tired.",
            "Hi, I'm Hungry.",
            "I am Legend is a good film.",
            "I Am Sam was sad.",
            "My name on the badge is wrong, it says Rita.",
            "Call me when Maria arrives.",
            "I'm Product Owner for the shop.",
        ] {
            assert_eq!(objects(text, "name"), Vec::<String>::new(), "{text}");
        }
        for (text, name) in [
            ("This is Lena's laptop, I'm Paul.", "Paul"),
            ("My name is Paul.", "Paul"),
            ("Hello, I'm Grace.", "Grace"),
            ("Ich heiße Paul.", "Paul"),
            ("Me llamo Paula.", "Paula"),
            ("Je m'appelle Léa.", "Léa"),
            ("我叫小明。", "小明"),
        ] {
            assert_eq!(objects(text, "name"), [name], "{text}");
        }
    }

    #[test]
    fn who_is_called_or_written_to_is_no_employer() {
        for text in
            ["Hi, I'm calling for Dr. Stein.", "I'm writing for Mr Olsen.", "I'm asking for Mrs Weber."]
        {
            assert_eq!(objects(text, "works_at"), Vec::<String>::new(), "{text}");
        }
        assert_eq!(objects("I'm designing pumps for Grundfos.", "works_at"), ["Grundfos"]);
    }

    #[test]
    fn who_has_a_teacher_is_none() {
        for text in [
            "Anna's teacher is Bruno.",
            "Tom's old boss was Karin.",
            "Annas Lehrer ist Bruno.",
            "Annas Lehrer heißt Bruno.",
        ] {
            let found = read(text, &[]);
            assert!(
                of(&found, "role").is_empty() && of(&found, "name").is_empty(),
                "{text}: {:?}",
                found.facts
            );
        }
        let found = read("My sister's a nurse.", &[]);
        assert_eq!(of(&found, "role").len(), 1, "the sign is a verb there");
    }

    #[test]
    fn a_denied_dislike_is_none() {
        for text in [
            "It's not that I dislike Rust, I just don't need it.",
            "It isn't that I hate meetings, they are just too long.",
            "Not that I dislike coffee.",
            "Ce n'est pas que je déteste le café.",
            "C'est pas que je déteste la coriandre, mais bon.",
            "Es ist nicht so, dass ich keinen Kaffee mag.",
            "Nicht, dass ich keinen Jazz mag.",
            "No es que odio el café.",
            "No es que no me guste el café.",
            "Não é que odeio café.",
            "Não é que eu não goste de café.",
            "我不是讨厌咖啡。",
            "并不是说我讨厌咖啡。",
        ] {
            assert_eq!(objects(text, "dislikes"), Vec::<String>::new(), "{text}");
        }
        for (text, what) in [
            ("I dislike Rust.", "Rust"),
            ("Je déteste le café.", "café"),
            ("Je n'aime pas le café.", "café"),
            ("Ich mag keinen Kaffee.", "Kaffee"),
            ("Odio el café.", "café"),
            ("Odeio café.", "café"),
        ] {
            assert_eq!(objects(text, "dislikes"), [what], "{text}");
        }
    }

    #[test]
    fn a_pet_ends_by_its_bare_name_where_it_is_known() {
        for (text, name) in [
            ("Mimi died on Monday.", "Mimi"),
            ("Mimi is gone, she fell asleep on Monday and did not wake up.", "Mimi"),
            ("Mimi passed away last week.", "Mimi"),
            ("Rex was put down yesterday.", "Rex"),
            ("Mimi ist am Montag gestorben.", "Mimi"),
            ("Die Mimi wurde gestern eingeschläfert.", "Mimi"),
            ("Wir mussten Rex einschläfern lassen.", "Rex"),
            ("Mimi est morte lundi.", "Mimi"),
            ("Rex nous a quittés hier.", "Rex"),
            ("Mimi murió el lunes.", "Mimi"),
            ("Tuvimos que sacrificar a Rex.", "Rex"),
            ("A Mimi morreu na segunda.", "Mimi"),
            ("咪咪星期一去世了。", "咪咪"),
        ] {
            let found = read(text, &["Mimi", "Rex", "咪咪"]);
            let [end] = of(&found, "pet").try_into().unwrap_or_else(|all| panic!("{text}: {all:?}"));
            assert_eq!(
                (end.act, &*end.object.text, &end.subject),
                (Act::End, name, &Subject::Speaker),
                "{text}"
            );
        }
        for text in ["Mimi died on Monday.", "Mimi est morte lundi.", "Mimi murió el lunes."] {
            assert!(of(&read(text, &[]), "pet").is_empty(), "{text}: nobody knows an animal of this name");
        }
        for text in [
            "Mimi did not die.",
            "Mimi is gone for the weekend.",
            "Did Mimi die?",
            "Mimi ist nicht gestorben.",
        ] {
            assert!(of(&read(text, &["Mimi"]), "pet").is_empty(), "{text}");
        }
    }

    #[test]
    fn who_is_put_beside_a_name_has_it() {
        for text in [
            "Selma, my wife, works as a pastry chef at Morgenrot.",
            "Selma, my wife, is a nurse.",
            "Selma, meine Frau, arbeitet bei Morgenrot.",
            "Selma, mi mujer, trabaja de pastelera.",
            "Selma, minha mulher, trabalha como confeiteira.",
        ] {
            let found = read(text, &[]);
            let work = found.facts.iter().find(|fact| matches!(fact.predicate.as_str(), "role" | "works_at"));
            let subject = Subject::Relation { role: "wife".into(), name: Some("Selma".into()) };
            assert_eq!(work.map(|fact| &fact.subject), Some(&subject), "{text}");
        }
    }

    #[test]
    fn a_name_in_the_next_clause_is_that_of_whom_the_one_before_speaks() {
        for (text, role, name) in [
            ("Wir haben einen Hund aus dem Tierheim geholt, er heißt Bolle.", "dog", "Bolle"),
            ("Ich habe eine Schwester, sie heißt Ida.", "sister", "Ida"),
            ("Hemos adoptado una gata de la protectora, se llama Cereza.", "cat", "Cereza"),
            ("Adotámos uma gata do abrigo, chama-se Cereja.", "cat", "Cereja"),
            ("Nous avons adopté un chien du refuge, il s'appelle Bolle.", "dog", "Bolle"),
            ("We got a dog from the shelter, his name is Bolle.", "dog", "Bolle"),
            ("我们领养了一只狗，它叫豆豆。", "dog", "豆豆"),
        ] {
            let found = read(text, &[]);
            let [called] = of(&found, "name").try_into().unwrap_or_else(|all| panic!("{text}: {all:?}"));
            let is_of_role = matches!(&called.subject, Subject::Relation { role: said, .. } if said == role);
            assert!(is_of_role && called.object.text == name, "{text}: {called:?}");
        }
    }

    #[test]
    fn ages_are_read_in_every_language() {
        for (text, age) in [
            ("Ma fille a onze ans.", "onze"),
            ("Mi hijo tiene once años.", "once"),
            ("Minha filha tem onze anos.", "onze"),
            ("Meine Tochter ist elf Jahre alt.", "elf"),
            ("我女儿今年十一岁。", "十一"),
        ] {
            assert_eq!(objects(text, "age"), [age], "{text}");
            assert_eq!(mnemal_extract::number(age), Some(11), "{age}");
        }
        for text in [
            "J'ai dix ans d'expérience.",
            "Tengo diez años de experiencia.",
            "Tenho dez anos de experiência.",
        ] {
            assert_eq!(objects(text, "age"), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn plain_statements_of_every_day_are_read_in_other_wordings() {
        for (text, predicate, object) in [
            ("They've taken me on as a night porter.", "role", "night porter"),
            ("Tellmark hired me last spring.", "works_at", "Tellmark"),
            ("Home for me is Utrecht.", "lives_in", "Utrecht"),
            ("Dundee is where I grew up.", "comes_from", "Dundee"),
            ("I grew up with three sisters.", "relative", "sisters"),
            ("I've suffered from eczema since I was small.", "health", "eczema"),
            ("I've played the violin for years.", "skill", "violin"),
            ("I play clarinet in a klezmer quartet.", "member_of", "klezmer quartet"),
            ("The book I love most is Dune.", "favourite", "Dune"),
            ("Crowds make me nervous.", "dislikes", "Crowds"),
        ] {
            let found = objects(text, predicate);
            assert!(found.iter().any(|one| one.contains(object)), "{text}: {found:?}");
        }
        assert!(!objects("Every Thursday we go to the market.", "habit").is_empty());
    }

    #[test]
    fn what_only_looks_like_a_statement_of_every_day_is_none() {
        for (text, predicate) in [
            ("Have they taken me on as a night porter?", "role"),
            ("If Tellmark hired me, I'd move.", "works_at"),
            ("Tellmark never hired me.", "works_at"),
            ("My aunt says that home for me is Utrecht.", "lives_in"),
            ("In my novel Dundee is where I grew up.", "comes_from"),
            ("I wish I'd grown up with three sisters.", "relative"),
            ("I've never suffered from eczema.", "health"),
            ("Could I play clarinet in a klezmer quartet?", "member_of"),
            ("\"The book I love most is Dune,\" he wrote.", "favourite"),
            ("Would crowds make me nervous?", "dislikes"),
            ("We're raising the girls in Welsh.", "did"),
            ("I live for Fridays, honestly.", "dislikes"),
        ] {
            assert_eq!(objects(text, predicate), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_chore_a_glass_a_visit_and_a_measure_are_no_facts() {
        for (text, predicate) in [
            ("I sort the attic and carry boxes all week.", "role"),
            ("I clean the garage this week.", "role"),
            ("Always lead with the conclusion.", "role"),
            ("Please guide with arrows.", "role"),
            ("I run the shop in Delft.", "role"),
            ("I manage the store.", "role"),
            ("I have two glasses on my desk.", "health"),
            ("My uncle wants us to visit for Diwali.", "deadline"),
            ("My aunt expects us to come for Easter.", "deadline"),
            ("I measured 17 minutes from door to door.", "did"),
            ("I timed 5 seconds.", "did"),
            ("I'm Team Lead at Acme.", "prefers"),
        ] {
            assert_eq!(objects(text, predicate), Vec::<String>::new(), "{text}");
        }
        for (text, predicate, object) in [
            ("I sort parcels for the post.", "role", "sort parcels"),
            ("I run a bakery in Delft.", "role", "run a bakery"),
            ("I have asthma.", "health", "asthma"),
            ("I'm Team Lead at Acme.", "role", "Team Lead"),
            ("I counted 40 people.", "did", "counted 40 people"),
            ("I met Selma and Ruth.", "did", "met Selma and Ruth"),
        ] {
            assert!(
                objects(text, predicate).contains(&object.to_owned()),
                "{text}: {:?}",
                objects(text, predicate)
            );
        }
        assert_eq!(objects("My editor wants the draft on 9 May.", "deadline"), ["9 May"]);
    }

    #[test]
    fn a_new_job_behind_an_end_is_not_ended() {
        for (text, job) in [
            ("Emil sold his practice and drives a taxi now.", "drives a taxi"),
            ("My sister Ida quit her job and teaches yoga now.", "teaches yoga"),
        ] {
            let found = read(text, &[]);
            let [role] = of(&found, "role").try_into().unwrap_or_else(|all| panic!("{text}: {all:?}"));
            assert_eq!((role.act, &*role.object.text), (Act::Assert, job), "{text}");
        }
        let found = read("Since Monday my wife is teaching at the Volksschule Mitte.", &[]);
        let [work] = of(&found, "works_at").try_into().unwrap_or_else(|all| panic!("{all:?}"));
        assert_eq!((work.act, &*work.object.text), (Act::Assert, "Volksschule Mitte"));
        assert_eq!(of(&found, "role").len(), 1, "what she did before is over");
    }

    #[test]
    fn words_that_begin_sentences_are_no_names() {
        for text in [
            "Está lloviendo. Será mejor salir más tarde.",
            "Mañana salimos a las seis. Bienvenido el café. Así no hay prisa. ¿Cómo lo ves?",
            "Il pleut. Demain nous partons. Bienvenue. Ainsi va la vie. Comment vas-tu ?",
            "Está chovendo. Amanhã saímos às seis. Bem-vindo o café. Assim não há pressa. Como vês?",
            "Es regnet. Morgen fahren wir. Willkommen. So ist das. Wie siehst du das?",
            "Sta piovendo. Sarà meglio uscire dopo. Domani partiamo. Benvenuto. Così va bene. Come stai?",
        ] {
            let found = read(text, &[]);
            assert!(found.mentions.is_empty(), "{text}: {:?}", found.mentions);
        }
        let names = |text: &str| -> Vec<String> {
            read(text, &[]).mentions.into_iter().map(|mention| mention.name).collect()
        };
        assert_eq!(names("Ayer llamó Marta. Quizás venga Pablo."), ["Marta", "Pablo"]);
        assert_eq!(names("Voilà Pierre. Hier, j'ai vu Claire."), ["Pierre", "Claire"]);
        assert_eq!(names("Sera called me yesterday and wants the book back."), ["Sera"]);
    }

    /// Each relation of a named person, as `owner predicate topic object`.
    fn ties(text: &str) -> Vec<String> {
        let found = read(text, &[]);
        let tie = |fact: &ExtractedFact| match &fact.subject {
            Subject::Named(owner) => Some(format!(
                "{owner} {} {} {}",
                fact.predicate.as_str(),
                fact.object.topic.as_deref().unwrap_or("-"),
                fact.object.text
            )),
            _ => None,
        };
        let is_tie = |fact: &&ExtractedFact| {
            matches!(fact.predicate.as_str(), "relative" | "partner" | "knows")
                && fact.object.kind == Some(EntityKind::Person)
        };
        found.facts.iter().filter(is_tie).filter_map(tie).collect()
    }

    // proves: NB-29 ("X is Y's Z")
    #[test]
    fn who_is_whose_relative_or_manager_ties_two_names() {
        for (text, tie) in [
            ("John is Mary's brother.", "Mary relative brother John"),
            ("Bob is Alice's manager.", "Alice knows manager Bob"),
            ("By the way, Priya is Tom's older sister and lives in Leeds.", "Tom relative sister Priya"),
            ("Mary's brother is John.", "Mary relative brother John"),
            ("Robert is Anna's husband.", "Anna partner - Robert"),
            ("Johns Schwester heißt Anna.", "John relative sister Anna"),
            ("John ist Marys Bruder.", "Mary relative brother John"),
            ("John ist der Bruder von Mary.", "Mary relative brother John"),
            ("Lukas ist Hans' Bruder.", "Hans relative brother Lukas"),
            ("John est le frère de Marie.", "Marie relative brother John"),
            ("Léa est la patronne d'Émile.", "Émile knows boss Léa"),
            ("John es el hermano de María.", "María relative brother John"),
            ("O João é o irmão da Maria.", "Maria relative brother João"),
            ("李雷是韩梅梅的哥哥。", "韩梅梅 relative brother 李雷"),
        ] {
            assert_eq!(ties(text), [tie], "{text}");
        }
    }

    #[test]
    fn what_is_denied_asked_or_supposed_ties_nobody() {
        for text in [
            "John is not Mary's brother.",
            "Is John Mary's brother?",
            "If John is Mary's brother, we can ask him.",
            "John is Mary's brother's friend.",
            "John ist nicht Marys Bruder.",
            "Ist John Marys Bruder?",
            "John n'est pas le frère de Marie.",
            "¿John es el hermano de María?",
            "Das ist Mamas Bruder.",
            "他是我的哥哥。",
            "John's car is new.",
        ] {
            assert_eq!(ties(text), [] as [String; 0], "{text}");
        }
    }
}
