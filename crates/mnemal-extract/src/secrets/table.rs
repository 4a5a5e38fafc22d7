//! The table of secret rules: one row per shape; rows with one id form one rule.
//!
//! Lengths are as short as the prefix allows, not as long as the issuer makes them today: a truncated or longer token is still
//! a secret, and a prefix followed by an opaque run is hardly ever anything else.

use std::ops::Range;

use super::number::Trigger;
use super::token::Set;
use super::{assignment, check, header, number};

/// Longest body of a token without a fixed length.
pub(crate) const OPEN: usize = usize::MAX;

/// One shape of one rule.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// The rule's name, part of stored placeholders: never changed or reused.
    pub(crate) id: &'static str,
    /// One of these must occur in the text, in any case, before anything else is tried.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) shape: Shape,
    /// The validator of the secret (of a token: its body).
    pub(crate) check: fn(&str) -> bool,
    /// Shortest secret (of a token: shortest body), in bytes.
    pub(crate) min: usize,
}

/// How a secret is extracted around a keyword.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// The keyword, then at most `max` bytes of a set; issuers use `usual`.
    Token { set: Set, max: usize, usual: usize },
    /// The first group of a regular expression, near the keyword.
    Pattern(&'static str),
    /// A function that reads on from the keyword.
    Read(fn(&str, &Range<usize>) -> Option<Range<usize>>),
    /// A function that looks around a byte; there is no keyword.
    Bare(Trigger, fn(&str, usize) -> Option<Range<usize>>),
}

/// `len` is the shortest, the longest and the usual body.
const fn token(
    id: &'static str,
    keywords: &'static [&'static str],
    set: Set,
    len: (usize, usize, usize),
    check: fn(&str) -> bool,
) -> Row {
    Row { id, keywords, shape: Shape::Token { set, max: len.1, usual: len.2 }, check, min: len.0 }
}

const fn pattern(
    id: &'static str,
    keywords: &'static [&'static str],
    regex: &'static str,
    min: usize,
    check: fn(&str) -> bool,
) -> Row {
    Row { id, keywords, shape: Shape::Pattern(regex), check, min }
}

const fn read(
    id: &'static str,
    keywords: &'static [&'static str],
    reader: fn(&str, &Range<usize>) -> Option<Range<usize>>,
) -> Row {
    Row { id, keywords, shape: Shape::Read(reader), check: check::any, min: 3 }
}

const fn bare(
    id: &'static str,
    trigger: Trigger,
    finder: fn(&str, usize) -> Option<Range<usize>>,
    check: fn(&str) -> bool,
) -> Row {
    Row { id, keywords: &[], shape: Shape::Bare(trigger, finder), check, min: 13 }
}

/// Every rule that this version knows, special rules before general ones: of two matches of one length the
/// earlier row gives its name.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    // Clouds.
    token("aws_access_key_id", &["AKIA", "ASIA"], Set::Upper, (16, 16, 16), check::varied),
    pattern("aws_secret_key", &["aws_secret", "awssecret", "secret_access_key", "secretaccesskey", "secret-access-key", "secret access key"],
        r#"(?i)secret(?:[_ -]?access)?(?:[_ -]?key)?["'`\]]{0,3}[ \t]*(?:=>|:=|=|:|,|\bis\b)[ \t]*["'`]?([A-Za-z0-9/+]{40})(?:$|[^A-Za-z0-9/+=])"#, 40, check::opaque),
    token("gcp_api_key", &["AIza"], Set::Url, (33, 40, 35), check::opaque),
    token("gcp_oauth_secret", &["GOCSPX-"], Set::Url, (20, OPEN, 28), check::opaque),
    token("gcp_oauth_token", &["ya29."], Set::UrlDot, (30, OPEN, 120), check::opaque),
    pattern("azure_storage_key", &["AccountKey=", "SharedAccessKey="], r"(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9/+]{42,90}={0,2})", 42, check::opaque),
    pattern("azure_sas", &["sig="], r"(?i)(?:\bsv=[^\s\x01]{1,400})[&?]sig=([A-Za-z0-9/+]{43}=?)|[?&]sig=([A-Za-z0-9/+]{43}=?)(?:&[^\s\x01]{0,400})?&sv=", 43, check::opaque),
    pattern("azure_client_secret", &["Q~"], r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:$|[^A-Za-z0-9_~-])", 37, check::opaque),
    token("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], Set::Hex, (64, 64, 64), check::varied),
    token("alibaba", &["LTAI"], Set::Alnum, (12, 24, 20), check::opaque),
    token("heroku", &["HRKU-"], Set::Url, (30, OPEN, 60), check::opaque),
    token("fly", &["fo1_"], Set::Url, (40, 64, 43), check::opaque),
    token("fly", &["fm1_", "fm2_", "fm1r_", "fm1a_"], Set::Base64, (40, OPEN, 120), check::opaque),
    pattern("cloudflare_origin", &["v1.0-"], r"(?:^|[^A-Za-z0-9_])(v1\.0-[a-f0-9]{24}-[a-f0-9]{100,160})(?:$|[^A-Za-z0-9_])", 130, check::varied),
    // Code hosting and builds.
    token("github_pat", &["ghp_"], Set::Alnum, (30, OPEN, 36), check::opaque),
    token("github_fine_pat", &["github_pat_"], Set::Word, (40, OPEN, 82), check::opaque),
    token("github_oauth", &["gho_"], Set::Alnum, (30, OPEN, 36), check::opaque),
    token("github_app", &["ghu_", "ghs_"], Set::Alnum, (30, OPEN, 36), check::opaque),
    token("github_refresh", &["ghr_"], Set::Alnum, (30, OPEN, 76), check::opaque),
    token("gitlab_pat", &["glpat-"], Set::UrlDot, (16, OPEN, 20), check::opaque),
    token("gitlab_other", &["glptt-", "gldt-", "glrt-", "glsoat-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-"], Set::UrlDot, (16, OPEN, 26), check::opaque),
    token("bitbucket", &["ATBB"], Set::Alnum, (24, 64, 32), check::opaque),
    token("circleci", &["CCIPAT_", "CCIPRJ_"], Set::Word, (30, OPEN, 63), check::opaque),
    token("atlassian", &["ATATT3"], Set::Base64, (40, OPEN, 186), check::opaque),
    // Package registries.
    token("npm", &["npm_"], Set::Alnum, (30, 64, 36), check::opaque),
    token("python_index", &["pypi-AgE"], Set::Url, (40, OPEN, 140), check::opaque),
    token("rubygems", &["rubygems_"], Set::Hex, (48, 48, 48), check::varied),
    token("cargo", &["cio"], Set::Alnum, (32, 32, 32), check::scrambled),
    token("docker", &["dckr_pat_", "dckr_oat_"], Set::Url, (20, OPEN, 27), check::opaque),
    token("nuget", &["oy2"], Set::Alnum, (43, 43, 43), check::scrambled),
    // Model providers.
    token("openai", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Set::Url, (20, OPEN, 124), check::opaque),
    token("anthropic", &["sk-ant-"], Set::Url, (20, OPEN, 101), check::opaque),
    token("openrouter", &["sk-or-v1-", "sk-or-"], Set::Dash, (30, OPEN, 64), check::opaque),
    token("openai", &["sk-"], Set::Alnum, (20, 64, 48), check::opaque),
    token("huggingface", &["hf_", "api_org_"], Set::Alnum, (30, 40, 34), check::opaque),
    token("replicate", &["r8_"], Set::Alnum, (34, 44, 37), check::opaque),
    token("groq", &["gsk_"], Set::Alnum, (40, 64, 52), check::opaque),
    token("xai", &["xai-"], Set::Alnum, (40, OPEN, 80), check::opaque),
    token("perplexity", &["pplx-"], Set::Alnum, (40, 64, 48), check::opaque),
    token("langsmith", &["lsv2_pt_", "lsv2_sk_", "lsv2_"], Set::Word, (32, 64, 43), check::varied),
    // Messages.
    token("slack_token", &["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxe-", "xoxe.xoxb-", "xoxe.xoxp-"], Set::Dash, (15, OPEN, 50), check::opaque),
    token("slack_token", &["xoxd-"], Set::Base64, (15, OPEN, 120), check::opaque),
    token("slack_app", &["xapp-"], Set::Dash, (20, OPEN, 90), check::opaque),
    pattern("slack_webhook", &["hooks.slack.com"], r"(?i)hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})", 20, check::opaque),
    bare("discord_bot", Trigger::Dot, number::discord, check::opaque),
    pattern("discord_webhook", &["discord.com/api", "discordapp.com/api"], r"(?i)discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{40,})", 40, check::opaque),
    bare("telegram_bot", Trigger::Colon, number::telegram, check::opaque),
    token("twilio", &["SK", "AC"], Set::Hex, (32, 32, 32), check::varied),
    pattern("sendgrid", &["SG."], r"(?:^|[^A-Za-z0-9_])(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64})", 50, check::opaque),
    token("mailgun", &["key-"], Set::Alnum, (32, 32, 32), check::scrambled),
    pattern("mailchimp", &["-us"], r"(?:^|[^A-Za-z0-9])([0-9a-f]{32}-us[0-9]{1,2})(?:$|[^A-Za-z0-9])", 36, check::varied),
    // Payment and commerce.
    token("stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], Set::Alnum, (14, OPEN, 99), check::opaque),
    token("stripe_webhook", &["whsec_"], Set::Base64, (20, OPEN, 32), check::opaque),
    token("shopify", &["shpat_", "shpss_", "shpca_", "shppa_"], Set::Hex, (32, 32, 32), check::varied),
    token("square", &["sq0atp-", "sq0csp-"], Set::Url, (20, 64, 43), check::opaque),
    // Services.
    token("grafana", &["glsa_"], Set::Word, (30, OPEN, 41), check::opaque),
    token("grafana", &["glc_"], Set::Base64, (30, OPEN, 120), check::opaque),
    token("newrelic", &["NRAK-"], Set::Alnum, (24, 40, 27), check::varied),
    token("sentry", &["sntrys_", "sntryu_"], Set::Base64, (32, OPEN, 64), check::opaque),
    token("posthog", &["phx_"], Set::Alnum, (30, 64, 43), check::opaque),
    token("postman", &["PMAK-"], Set::Dash, (40, 72, 59), check::varied),
    token("figma", &["figd_"], Set::Url, (30, 64, 40), check::opaque),
    token("linear", &["lin_api_", "lin_oauth_"], Set::Alnum, (32, 72, 40), check::opaque),
    token("notion", &["ntn_"], Set::Alnum, (36, 60, 46), check::opaque),
    token("notion", &["secret_"], Set::Alnum, (43, 43, 43), check::opaque),
    token("dropbox", &["sl."], Set::Url, (60, OPEN, 140), check::opaque),
    pattern("dropbox", &["sl.u.", "sl.B."], r"(?:^|[^A-Za-z0-9_])(sl\.[A-Za-z]\.[A-Za-z0-9_-]{60,})", 60, check::opaque),
    pattern("databricks", &["dapi"], r"(?:^|[^A-Za-z0-9_])(dapi[0-9a-f]{32}(?:-[0-9]{1,2})?)(?:$|[^A-Za-z0-9_-])", 36, check::varied),
    token("doppler", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], Set::UrlDot, (36, OPEN, 43), check::opaque),
    // Infrastructure.
    token("vault", &["hvs.", "hvb.", "hvr."], Set::Url, (20, OPEN, 90), check::opaque),
    pattern("terraform", &[".atlasv1."], r"(?:^|[^A-Za-z0-9])([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,})", 70, check::opaque),
    token("pulumi", &["pul-"], Set::Hex, (40, 40, 40), check::varied),
    token("supabase", &["sbp_"], Set::Hex, (40, 40, 40), check::varied),
    token("supabase", &["sb_secret_"], Set::Url, (20, 64, 31), check::opaque),
    token("planetscale", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Set::UrlDot, (30, 72, 43), check::opaque),
    token("age", &["AGE-SECRET-KEY-1"], Set::Upper, (58, 58, 58), check::varied),
    token("mnemal_key", &["mnk_"], Set::Word, (40, 72, 61), check::varied),
    // Shapes that many issuers use.
    read("pem_private_key", &["-----BEGIN "], header::pem),
    read("openssh_private_key", &["-----BEGIN "], header::openssh),
    read("pgp_private_key", &["-----BEGIN "], header::pgp),
    token("jwt", &["eyJ"], Set::UrlDot, (24, OPEN, 120), check::jwt),
    read("url_credentials", &["://"], header::url_credentials),
    read("auth_header", &["bearer", "basic"], header::authorization),
    read("cookie_header", &["cookie"], header::cookie),
    read("assignment", &assignment::NAMES, assignment::value),
    // Money and identity.
    bare("pan", Trigger::Digit, number::pan, check::any),
    bare("iban", Trigger::Digit, number::iban, check::any),
    pattern("ssn_us", &["ssn", "social security"],
        r"(?i)(?:ssn|social security)[^0-9\x01\n]{0,40}([0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4})(?:$|[^0-9-])", 9, check::ssn),
];
