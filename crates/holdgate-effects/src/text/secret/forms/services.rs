//! Tokens of services: chat and mail, payment, observability, and others. Then keys that have no form
//! of their own and are known by the name before them.

use super::clouds::{AWS, AZURE};
use super::{Check, Form, Named};

const SLACK: &[&str] = &["slack.com"];
const DISCORD: &[&str] = &["discord.com", "discordapp.com"];
const STRIPE: &[&str] = &["stripe.com"];
const SQUARE: &[&str] = &["squareup.com", "squareupsandbox.com"];
const SHOPIFY: &[&str] = &["myshopify.com", "shopify.com"];
const SENTRY: &[&str] = &["sentry.io"];
const GRAFANA: &[&str] = &["grafana.net", "grafana.com"];
const NEW_RELIC: &[&str] = &["newrelic.com", "nr-data.net"];
const NOTION: &[&str] = &["notion.com"];
const FACEBOOK: &[&str] = &["facebook.com"];
const EASYPOST: &[&str] = &["easypost.com"];
const DATADOG: &[&str] = &["datadoghq.com", "datadoghq.eu"];

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    Form::new("slack-token", &["xoxb-"], "[0-9]{9,14}-(?:[0-9]{9,14}-)?[A-Za-z0-9]{18,34}").loose("[A-Za-z0-9-]{10,}").goes_on("-").of(SLACK),
    Form::new("slack-token", &["xoxa-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], "(?:2-)?(?:[0-9]{9,14}-){2,3}[A-Za-z0-9]{20,64}").loose("[A-Za-z0-9-]{10,}").goes_on("-").of(SLACK),
    Form::new("slack-token", &["xoxe-", "xoxe.xoxp-", "xoxe.xoxb-"], "[0-9]-[A-Za-z0-9-]{100,200}").loose("[A-Za-z0-9-]{10,}").goes_on("-").of(SLACK),
    Form::new("slack-token", &["xapp-"], "[0-9]-[A-Z0-9]{8,12}-[0-9]{10,14}-[a-z0-9]{20,64}").loose("[A-Za-z0-9-]{10,}").goes_on("-").of(SLACK),
    Form::new("slack-webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], "[A-Z0-9]{6,12}/(?:[A-Z0-9]{6,12}/)?(?:[0-9]{15,20}/)?[A-Za-z0-9]{20,32}").loose("[A-Za-z0-9/_-]{20,}").goes_on("_-/").of(SLACK),
    Form::new("discord-webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], "[0-9]{17,20}/[A-Za-z0-9_-]{60,70}").loose("[A-Za-z0-9/_-]{20,}").goes_on("_-").of(DISCORD),
    Form::new("teams-webhook", &[".webhook.office.com/webhookb2/"], "[a-z0-9-]{36}@[a-z0-9-]{36}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9-]{36}").of(&["webhook.office.com"]),
    Form::new("telegram-token", &[":AA"], "[A-Za-z0-9_-]{32,36}").after("[0-9]{8,10}").loose("[A-Za-z0-9_-]{30,}").goes_on("_-").of(&["telegram.org"]),
    Form::new("sendgrid-key", &["SG."], "[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{30,64}").loose("[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}").bounded().goes_on("_-").of(&["sendgrid.com"]),
    Form::new("mailgun-key", &["key-"], "[0-9a-f]{32}").bounded().of(&["mailgun.net", "mailgun.com"]),
    Form::new("resend-key", &["re_"], "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,26}").bounded().of(&["resend.com"]),
    Form::new("brevo-key", &["xkeysib-", "xsmtpsib-"], "[a-f0-9]{64}-[A-Za-z0-9]{16}").of(&["brevo.com", "sendinblue.com"]),
    Form::new("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], "[A-Za-z0-9]{20,250}").loose("[A-Za-z0-9]{16,}").of(STRIPE),
    Form::new("stripe-webhook-secret", &["whsec_"], "[A-Za-z0-9+/]{32,}=?").loose("[A-Za-z0-9]{16,}").of(STRIPE),
    Form::new("square-token", &["sq0atp-"], "[A-Za-z0-9_-]{22}").goes_on("_-").of(SQUARE),
    Form::new("square-secret", &["sq0csp-"], "[A-Za-z0-9_-]{43}").loose("[A-Za-z0-9_=-]{20,}").goes_on("_-").of(SQUARE),
    Form::new("square-token", &["EAAA"], "[A-Za-z0-9_-]{60}").bounded().goes_on("_-").of(SQUARE),
    Form::new("facebook-token", &["EAAM", "EAAC", "EAAB", "EAAG"], "[A-Za-z0-9]{80,}").bounded().of(FACEBOOK),
    Form::new("paypal-token", &["access_token$production$", "access_token$sandbox$"], "[a-z0-9]{16}\\$[a-f0-9]{32}").of(&["paypal.com", "braintreegateway.com"]),
    Form::new("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").of(&["plaid.com"]),
    Form::new("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], "[0-9a-fA-F]{32}").of(SHOPIFY),
    Form::new("flutterwave-key", &["FLWSECK-", "FLWSECK_TEST-"], "[a-hA-H0-9]{12,32}(?:-X)?").of(&["flutterwave.com"]),
    Form::new("easypost-key", &["EZAK", "EZTK"], "[A-Za-z0-9]{54}").bounded().of(EASYPOST),
    Form::new("duffel-token", &["duffel_live_", "duffel_test_"], "[A-Za-z0-9_=-]{43}").of(&["duffel.com"]),
    Form::new("dynatrace-token", &["dt0c01.", "dt0s01.", "dt0s16."], "[A-Z0-9]{24}\\.[A-Z0-9]{64}").of(&["dynatrace.com"]),
    Form::new("grafana-token", &["glsa_"], "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}").loose("[A-Za-z0-9_=-]{20,}").of(GRAFANA),
    Form::new("grafana-cloud-token", &["glc_"], "[A-Za-z0-9+/]{40,400}={0,2}").bounded().of(GRAFANA),
    Form::new("newrelic-key", &["NRAK-", "NRII-", "NRRA-", "NRIQ-"], "[A-Za-z0-9_-]{27,42}").bounded().of(NEW_RELIC),
    Form::new("sentry-token", &["sntrys_", "sntryu_"], "[A-Za-z0-9_=+/-]{40,}").loose("[A-Za-z0-9_=-]{20,}").of(SENTRY),
    Form::new("posthog-key", &["phx_"], "[A-Za-z0-9]{40,50}").bounded().of(&["posthog.com"]),
    Form::new("launchdarkly-key", &["sdk-", "api-"], "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}").bounded().goes_on("_-").of(&["launchdarkly.com"]),
    Form::new("honeycomb-key", &["hcaik_", "hcbik_", "hcxik_", "hcalk_"], "[A-Za-z0-9]{50,70}").of(&["honeycomb.io"]),
    Form::new("linear-key", &["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{40,64}").loose("[A-Za-z0-9_=-]{20,}").of(&["linear.app"]),
    Form::new("figma-token", &["figd_"], "[A-Za-z0-9_-]{36,50}").loose("[A-Za-z0-9_=-]{20,}").of(&["figma.com"]),
    Form::new("notion-token", &["ntn_"], "[0-9]{11}[A-Za-z0-9]{32,36}").bounded().of(NOTION),
    Form::new("notion-token", &["secret_"], "[A-Za-z0-9]{43}").bounded().of(NOTION),
    Form::new("airtable-token", &["pat"], "[A-Za-z0-9]{14}\\.[a-f0-9]{64}").bounded().of(&["airtable.com"]),
    Form::new("hubspot-token", &["pat-na1-", "pat-na2-", "pat-eu1-"], "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").of(&["hubapi.com", "hubspot.com"]),
    Form::new("readme-key", &["rdme_"], "[a-z0-9]{70}").bounded().of(&["readme.io", "readme.com"]),
    Form::new("prefect-key", &["pnu_", "pnb_"], "[A-Za-z0-9]{36}").bounded().of(&["prefect.cloud"]),
    Form::new("infracost-key", &["ico-"], "[A-Za-z0-9]{32}").bounded().checked(Check::MayBePublic).of(&["infracost.io"]),
    Form::new("contentful-token", &["CFPAT-"], "[A-Za-z0-9_-]{43}").goes_on("_-").of(&["contentful.com"]),
    Form::new("typeform-token", &["tfp_"], "[A-Za-z0-9_.=-]{50,60}").bounded().of(&["typeform.com"]),
    Form::new("dropbox-token", &["sl.u.", "sl.B"], "[A-Za-z0-9_-]{120,}").bounded().of(&["dropboxapi.com", "dropbox.com"]),
    Form::new("mapbox-secret", &["sk.eyJ"], "[A-Za-z0-9_-]{40,}\\.[A-Za-z0-9_-]{20,}").bounded().of(&["mapbox.com"]),
    Form::new("salesforce-session", &["00D"], "[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}").bounded().of(&["salesforce.com", "force.com"]),
    Form::new("twitter-token", &["AAAAAAAAAAAAAAAAAAAAA"], "[A-Za-z0-9%]{80,100}").bounded().checked(Check::MayBePublic).of(&["twitter.com", "x.com"]),
    Form::new("frameio-token", &["fio-u-"], "[A-Za-z0-9_=-]{64}").of(&["frame.io"]),
    Form::new("registry-login", &["\"auth\": \"", "\"auth\":\"", ":_auth=", "_auth = "], "[A-Za-z0-9+/]{8,}={0,2}").checked(Check::Login),
    Form::new("postgres-login", &[":5432:", ":5433:", ":6432:"], r"[A-Za-z0-9_*-]{1,40}:[A-Za-z0-9_-]{1,40}:[^\s:]{8,80}").after("[a-z0-9.-]{4,80}"),
];

#[rustfmt::skip]
pub(super) const NAMED: &[Named] = &[
    Named { name: "aws-secret-key", words: &["aws_secret", "secret_access_key", "aws_session_token"], value: "[A-Za-z0-9/+]{40}|[A-Za-z0-9/+]{100,}={0,2}", issuers: AWS },
    Named { name: "azure-key", words: &["azure", "cosmos_db", "cognitive_services"], value: "[A-Za-z0-9+/]{86}==|[0-9a-f]{32}|[A-Za-z0-9]{84}", issuers: AZURE },
    Named { name: "facebook-token", words: &["facebook", "fb_token", "fb_access"], value: r"[0-9]{15,16}(?:\||%7C)[A-Za-z0-9_-]{27}|[0-9a-f]{32}", issuers: FACEBOOK },
    Named { name: "discord-token", words: &["discord", "bot_token"], value: r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}|[A-Za-z0-9_-]{32}", issuers: DISCORD },
    Named { name: "twilio-key", words: &["twilio"], value: "(?:SK)?[0-9a-f]{32}", issuers: &["twilio.com"] },
    Named { name: "datadog-key", words: &["datadog", "dd_api_key", "dd_app_key"], value: "[0-9a-f]{32}|[0-9a-f]{40}", issuers: DATADOG },
    Named { name: "sourcegraph-token", words: &["sourcegraph"], value: "[A-Fa-f0-9]{40}", issuers: &["sourcegraph.com"] },
    Named { name: "mailchimp-key", words: &["mailchimp_api", "mailchimp_key"], value: "[0-9a-f]{32}-us[0-9]{1,2}", issuers: &["mailchimp.com"] },
    Named { name: "heroku-key", words: &["heroku"], value: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", issuers: &["heroku.com"] },
    Named { name: "snyk-token", words: &["snyk_token", "snyk_key"], value: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", issuers: &["snyk.io"] },
    Named { name: "codecov-token", words: &["codecov_token"], value: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", issuers: &["codecov.io"] },
    Named { name: "cloudflare-token", words: &["cloudflare", "cf_api_token", "cf_api_key"], value: "[A-Za-z0-9_-]{40}|[0-9a-f]{37}", issuers: &["cloudflare.com"] },
    Named { name: "okta-token", words: &["okta"], value: "00[A-Za-z0-9_-]{40}", issuers: &["okta.com", "oktapreview.com"] },
    Named { name: "meraki-key", words: &["meraki"], value: "[0-9a-f]{40}", issuers: &["meraki.com"] },
    Named { name: "cohere-key", words: &["cohere", "co_api_key"], value: "[A-Za-z0-9]{40}", issuers: &["cohere.com", "cohere.ai"] },
    Named { name: "mistral-key", words: &["mistral"], value: "[A-Za-z0-9]{32}", issuers: &["mistral.ai"] },
    Named { name: "together-key", words: &["together_api", "together_ai"], value: "[0-9a-f]{64}|tgp_v1_[A-Za-z0-9_-]{43}", issuers: &["together.xyz", "together.ai"] },
    Named { name: "wandb-key", words: &["wandb"], value: "[0-9a-f]{40}", issuers: &["wandb.ai"] },
    Named { name: "fastly-token", words: &["fastly"], value: "[A-Za-z0-9_-]{32}", issuers: &["fastly.com"] },
    Named { name: "vercel-token", words: &["vercel_token", "vercel_api"], value: "[A-Za-z0-9]{24}", issuers: &["vercel.com"] },
    Named { name: "sumologic-key", words: &["sumologic_access", "sumo_access"], value: "[A-Za-z0-9]{64}", issuers: &["sumologic.com"] },
    Named { name: "algolia-key", words: &["algolia_admin", "algolia_write"], value: "[0-9a-f]{32}", issuers: &["algolia.net", "algolianet.com"] },
    Named { name: "pagerduty-key", words: &["pagerduty"], value: r"[A-Za-z0-9_+-]{20}|[0-9a-f]{32}", issuers: &["pagerduty.com"] },
    Named { name: "vault-token", words: &["vault_token"], value: r"s\.[A-Za-z0-9]{24}", issuers: &[] },
    Named { name: "ethereum-private-key", words: &["private_key", "deployer_key", "wallet_key"], value: "(?:0x)?[0-9a-f]{64}", issuers: &[] },
];
