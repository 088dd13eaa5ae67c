//! Tokens of clouds, of databases that are rented, and of stores for secrets.

use super::{Check, Form};

pub(super) const AWS: &[&str] = &["amazonaws.com", "amazonaws.com.cn", "aws.dev"];
pub(super) const AZURE: &[&str] = &[
    "azure.com",
    "azure.net",
    "windows.net",
    "microsoftonline.com",
    "microsoft.com",
];
pub(super) const GOOGLE: &[&str] = &["googleapis.com", "google.com"];
const DIGITALOCEAN: &[&str] = &["digitalocean.com", "digitaloceanspaces.com"];
const DATABRICKS: &[&str] = &["databricks.com", "azuredatabricks.net"];

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    Form::new("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"[0-9A-Z]{16}(?-u:\b)").bounded().of(AWS),
    Form::new("aws-bedrock-key", &["ABSK"], "[A-Za-z0-9+/]{100,280}={0,2}").bounded().of(AWS),
    Form::new("aws-mws-key", &["amzn.mws."], "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").of(AWS),
    Form::new("google-api-key", &["AIza"], "[A-Za-z0-9_-]{35}").goes_on("_-").checked(Check::MayBePublic).of(GOOGLE),
    Form::new("google-oauth-token", &["ya29."], "[A-Za-z0-9_-]{40,}").loose("[A-Za-z0-9_-]{20,}").of(GOOGLE),
    Form::new("google-client-secret", &["GOCSPX-"], "[A-Za-z0-9_-]{28}").loose("[A-Za-z0-9_-]{20,}").goes_on("_-").of(GOOGLE),
    Form::new("google-refresh-token", &["1//0"], "[A-Za-z0-9_-]{40,}").bounded().of(GOOGLE),
    Form::new("azure-client-secret", &["Q~"], "[A-Za-z0-9_~.-]{31,34}").after("[A-Za-z0-9_~.]{3}[0-9]").bounded().goes_on("_~.-").of(AZURE),
    Form::new("azure-storage-key", &["AccountKey=", "AccountKey\":\"", "AccountKey\": \""], "[A-Za-z0-9+/]{86}==").of(AZURE),
    Form::new("azure-shared-access-key", &["SharedAccessKey="], "[A-Za-z0-9+/]{40,88}={0,2}").of(AZURE),
    Form::new("azure-sas", &["?sig=", "&sig=", "&amp;sig="], "[A-Za-z0-9%+/]{40,80}(?:%3[Dd]|=)").of(AZURE),
    Form::new("azure-devops-token", &["AZDO"], "[A-Za-z0-9]{4}").after_secret("[A-Za-z0-9]{76}").bounded().of(&["azure.com", "visualstudio.com"]),
    Form::new("alibaba-access-key", &["LTAI"], "[A-Za-z0-9]{17,21}").bounded().of(&["aliyuncs.com"]),
    Form::new("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], "[0-9a-f]{64}").loose("[0-9a-f]{40,}").of(DIGITALOCEAN),
    Form::new("heroku-token", &["HRKU-"], "[A-Za-z0-9_-]{36,65}").bounded().of(&["heroku.com", "herokuapp.com"]),
    Form::new("fly-token", &["fo1_", "fm1a_", "fm1r_", "fm2_"], "[A-Za-z0-9_+/=,-]{43,}").bounded().of(&["fly.io", "machines.dev", "fly.dev"]),
    Form::new("netlify-token", &["nfp_"], "[A-Za-z0-9]{36}").bounded().of(&["netlify.com", "netlify.app"]),
    Form::new("supabase-token", &["sbp_"], "[a-f0-9]{40}").bounded().of(&["supabase.com", "supabase.co"]),
    Form::new("supabase-secret-key", &["sb_secret_"], "[A-Za-z0-9_-]{30,}").bounded().of(&["supabase.com", "supabase.co"]),
    Form::new("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[A-Za-z0-9_=.-]{32,64}").of(&["planetscale.com", "psdb.cloud"]),
    Form::new("render-token", &["rnd_"], "[A-Za-z0-9]{28,32}").bounded().of(&["render.com"]),
    Form::new("databricks-token", &["dapi"], "[0-9a-f]{32}(?:-[0-9])?").bounded().of(DATABRICKS),
    Form::new("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "[A-Za-z0-9._-]{40,60}").bounded().of(&["doppler.com"]),
    Form::new("vault-token", &["hvs.", "hvb.", "hvr."], "[A-Za-z0-9_-]{24,}").loose("[A-Za-z0-9_-]{20,}").bounded(),
    Form::new("terraform-token", &[".atlasv1."], "[A-Za-z0-9_=-]{60,70}").after("[A-Za-z0-9]{14}").bounded().of(&["terraform.io"]),
    Form::new("pulumi-token", &["pul-"], "[a-f0-9]{40}").bounded().of(&["pulumi.com"]),
    Form::new("onepassword-token", &["ops_eyJ"], "[A-Za-z0-9+/_-]{200,}={0,3}").bounded().of(&["1password.com", "1password.eu", "1password.ca"]),
    Form::new("onepassword-secret-key", &["A3-"], "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}").bounded().goes_on("_-").of(&["1password.com", "1password.eu", "1password.ca"]),
    Form::new("tailscale-key", &["tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-"], "[A-Za-z0-9]{6,20}-[A-Za-z0-9]{20,40}").of(&["tailscale.com"]),
    Form::new("openshift-token", &["sha256~"], "[A-Za-z0-9_-]{43}").bounded().goes_on("_-"),
    Form::new("clickhouse-key", &["4b1d"], "[A-Za-z0-9]{38}").bounded().of(&["clickhouse.cloud"]),
    Form::new("age-key", &["AGE-SECRET-KEY-1"], "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}").loose("[0-9A-Z]{20,}"),
    Form::new("wireguard-key", &["PrivateKey = ", "PrivateKey=", "PresharedKey = "], "[A-Za-z0-9+/]{43}=").bounded(),
    Form::new("kubeconfig-key", &["client-key-data: ", "client-key-data\":\"", "client-key-data\": \""], "LS0t[A-Za-z0-9+/]{60,}={0,2}"),
    Form::new("extended-private-key", &["xprv", "zprv", "yprv"], "[1-9A-HJ-NP-Za-km-z]{107}").bounded(),
    Form::new("one-time-password-seed", &["otpauth://totp/", "otpauth://hotp/"], r#"[^\s"'?]{0,100}\?[^\s"']{0,100}secret=[A-Z2-7]{16,}"#),
];
