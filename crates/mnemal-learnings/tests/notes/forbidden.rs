//! Prohibitions with alternatives, in the other languages of the packs.

use mnemal_core::{AntiPattern, LearningKind};

use crate::learned::{AGENT, USER, life};

/// A message, the forbidden action, the reason, and the alternative.
type Wording = (&'static str, &'static str, Option<&'static str>, &'static str);

/// Fails with every wording that is read differently.
fn read(answer: &str, wordings: &[Wording]) {
    let mut wrong = Vec::new();
    for (message, avoid, reason, instead) in wordings {
        let rows = life(&[("a", AGENT, answer), ("a", USER, message)]).learnt();
        let found = rows.iter().find(|row| row.kind == LearningKind::AntiPattern);
        let found = found.and_then(|row| row.pattern.clone());
        let wanted = AntiPattern {
            avoid: (*avoid).to_owned(),
            reason: reason.map(str::to_owned),
            instead: Some((*instead).to_owned()),
        };
        if found.as_ref() != Some(&wanted) {
            let told: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
            wrong.push(format!("{message}: {found:?} of {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Fails with every sentence that is misread as a prohibition.
fn spare(answer: &str, messages: &[&str]) {
    for message in messages {
        let rows = life(&[("a", AGENT, answer), ("a", USER, message)]).learnt();
        assert!(rows.iter().all(|row| row.kind != LearningKind::AntiPattern), "{message}: {rows:?}");
    }
}

// proves: RB-22 (usual wordings in German)
#[test]
fn german_wordings_have_their_parts() {
    let done = "Erledigt, ich habe es mit npm installiert und auf main gepusht.";
    read(
        done,
        &[
            ("Benutze nie npm, nimm stattdessen pnpm.", "benutze npm", None, "pnpm"),
            ("Verwende kein npm, sondern pnpm.", "verwende npm", None, "pnpm"),
            (
                "Nutze nicht die Produktionsdatenbank, sondern die Testdatenbank, weil Kunden es merken.",
                "nutze die Produktionsdatenbank",
                Some("Kunden es merken"),
                "die Testdatenbank",
            ),
            ("Schreib keine langen Mails, sondern kurze.", "schreib langen Mails", None, "kurze"),
            ("Bitte verwende nie Tabs, nimm lieber Leerzeichen.", "verwende Tabs", None, "Leerzeichen"),
            ("Lösch nie den Cache, leere stattdessen den Index.", "lösch den Cache", None, "den Index"),
            (
                "Benutze pnpm statt npm, weil das Lockfile bricht.",
                "benutze npm",
                Some("das Lockfile bricht"),
                "pnpm",
            ),
            (
                "Committe nie auf main, sondern auf einen Branch.",
                "committe auf main",
                None,
                "auf einen Branch",
            ),
        ],
    );
    spare(done, &["Ich benutze nie npm, sondern pnpm.", "Wir haben kein npm, sondern pnpm."]);
}

// proves: RB-22 (usual wordings in French)
#[test]
fn french_wordings_have_their_parts() {
    let done = "C'est fait, j'ai installé avec npm et poussé sur main.";
    read(
        done,
        &[
            ("N'utilise jamais npm, utilise plutôt pnpm.", "utilise npm", None, "pnpm"),
            ("N'utilise pas npm mais pnpm.", "utilise npm", None, "pnpm"),
            (
                "N'emploie jamais la base de production, prends plutôt la base de test, parce que les clients le voient.",
                "emploie la base de production",
                Some("les clients le voient"),
                "la base de test",
            ),
            ("Utilise pnpm au lieu de npm.", "utilise npm", None, "pnpm"),
            (
                "N'écris plus de longs mails, écris plutôt des listes.",
                "écris longs mails",
                None,
                "des listes",
            ),
            (
                "N'envoie jamais de pièces jointes, mets un lien à la place.",
                "envoie pièces jointes",
                None,
                "mets un lien",
            ),
        ],
    );
    spare(done, &["Je n'utilise jamais npm mais pnpm.", "Nous n'avons pas npm mais pnpm."]);
}

// proves: RB-22 (usual wordings in Spanish)
#[test]
fn spanish_wordings_have_their_parts() {
    let done = "Listo, lo instalé con npm y lo subí a main.";
    read(
        done,
        &[
            ("Nunca uses npm, usa pnpm en su lugar.", "uses npm", None, "pnpm"),
            ("No uses npm, sino pnpm.", "uses npm", None, "pnpm"),
            (
                "No utilices la base de producción, utiliza la base de pruebas en su lugar, porque los clientes lo notan.",
                "utilices la base de producción",
                Some("los clientes lo notan"),
                "la base de pruebas",
            ),
            (
                "Usa pnpm en lugar de npm, porque el lockfile se rompe.",
                "usa npm",
                Some("el lockfile se rompe"),
                "pnpm",
            ),
            (
                "Nunca escribas correos largos, mejor escribe listas.",
                "escribas correos largos",
                None,
                "escribe listas",
            ),
            ("Jamás mandes adjuntos, pon un enlace en su lugar.", "mandes adjuntos", None, "pon un enlace"),
        ],
    );
    spare(done, &["Nunca uso npm, sino pnpm.", "No tenemos npm, sino pnpm."]);
}

// proves: RB-22 (usual wordings in Portuguese)
#[test]
fn portuguese_wordings_have_their_parts() {
    let done = "Feito, instalei com npm e enviei para main.";
    read(
        done,
        &[
            ("Não uses npm, mas sim pnpm.", "uses npm", None, "pnpm"),
            (
                "Não utilizes a base de produção, utiliza antes a base de testes, porque os clientes reparam.",
                "utilizes a base de produção",
                Some("os clientes reparam"),
                "a base de testes",
            ),
            ("Usa pnpm em vez de npm, porque o lockfile parte.", "usa npm", Some("o lockfile parte"), "pnpm"),
            ("Nunca escrevas mails longos, escreve antes listas.", "escrevas mails longos", None, "listas"),
            ("Jamais mandes anexos, põe antes um link.", "mandes anexos", None, "um link"),
        ],
    );
    spare(done, &["Nunca uso npm, mas sim pnpm.", "Não temos npm, mas sim pnpm."]);
}

// proves: RB-22 (usual wordings in Chinese)
#[test]
fn chinese_wordings_have_their_parts() {
    let done = "装好了，我用了npm并推送到main。";
    read(
        done,
        &[
            ("不要用npm，改用pnpm。", "用npm", None, "pnpm"),
            ("别用npm，改用pnpm，因为锁文件会坏。", "用npm", Some("锁文件会坏"), "pnpm"),
            ("千万别用表格，而是用列表。", "用表格", None, "用列表"),
            ("不要写长邮件，应该写列表。", "写长邮件", None, "写列表"),
            ("别再发附件，改用链接。", "发附件", None, "链接"),
        ],
    );
    spare(done, &["我不用npm，改用pnpm了。", "我们不要npm，改用pnpm了。"]);
}
