//! Tokens of forges, package registries, builds, and models.

use super::{Check, Form};

const GITHUB: &[&str] = &[
    "github.com",
    "githubusercontent.com",
    "ghcr.io",
    "models.github.ai",
    "models.inference.ai.azure.com",
];
// People run GitLab themselves too: its tokens go to hosts that cannot be known.
const GITLAB: &[&str] = &["gitlab.com"];
const ATLASSIAN: &[&str] = &["atlassian.net", "atlassian.com", "bitbucket.org"];
const DOCKER: &[&str] = &["docker.com", "docker.io"];
const PYPI: &[&str] = &["pypi.org"];
const OPENAI: &[&str] = &["openai.com", "chatgpt.com", "openai.azure.com"];
const HUGGINGFACE: &[&str] = &["huggingface.co", "hf.co"];
const JFROG: &[&str] = &["jfrog.io"];

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    Form::new("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{36}").loose("[A-Za-z0-9]{30,}").checked(Check::Crc62).of(GITHUB),
    Form::new("github-token", &["github_pat_"], "[A-Za-z0-9]{22}_[A-Za-z0-9]{30,82}").loose("[A-Za-z0-9_]{30,}").of(GITHUB),
    Form::new("gitlab-token", &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "glimt-", "gloas-"], "[A-Za-z0-9_-]{20,}(?:\\.[A-Za-z0-9_.-]{2,30})?").loose("[A-Za-z0-9_.-]{16,}").of(GITLAB),
    Form::new("gitlab-runner-token", &["GR1348941"], "[A-Za-z0-9_-]{20}").bounded().goes_on("_-").of(GITLAB),
    Form::new("atlassian-token", &["ATATT3", "ATCTT3"], "[A-Za-z0-9_=-]{60,}").loose("[A-Za-z0-9_=-]{20,}").of(ATLASSIAN),
    Form::new("bitbucket-token", &["ATBB"], "[A-Za-z0-9]{24,40}").bounded().of(ATLASSIAN),
    Form::new("npm-token", &["npm_"], "[A-Za-z0-9]{36}").bounded().checked(Check::Crc62).of(&["npmjs.org", "npmjs.com"]),
    Form::new("pypi-token", &["pypi-AgE"], "[A-Za-z0-9_-]{50,}").loose("[A-Za-z0-9_-]{30,}").of(PYPI),
    Form::new("rubygems-token", &["rubygems_"], "[0-9a-f]{48}").loose("[0-9a-f]{32,}").of(&["rubygems.org"]),
    Form::new("crates-io-token", &["cio"], "[A-Za-z0-9]{32}").bounded().of(&["crates.io"]),
    Form::new("docker-token", &["dckr_pat_", "dckr_oat_"], "[A-Za-z0-9_-]{27,36}").loose("[A-Za-z0-9_-]{20,}").of(DOCKER),
    Form::new("nuget-key", &["oy2"], "[a-z0-9]{43}").bounded().of(&["nuget.org"]),
    Form::new("clojars-token", &["CLOJARS_"], "[a-z0-9]{60}").bounded().of(&["clojars.org"]),
    Form::new("packagist-token", &["packagist_uut_", "packagist_ort_", "packagist_ack_", "packagist_acs_"], "[a-f0-9]{64,80}").of(&["packagist.org", "packagist.com"]),
    Form::new("artifactory-key", &["AKCp"], "[A-Za-z0-9]{69}").bounded().of(JFROG),
    Form::new("artifactory-token", &["cmVmd"], "[A-Za-z0-9]{59}").bounded().of(JFROG),
    Form::new("circleci-token", &["CCIPAT_", "CCIPRJ_"], "[A-Za-z0-9]{22}_[a-f0-9]{40}").of(&["circleci.com"]),
    Form::new("buildkite-token", &["bkua_", "bkct_", "bkaj_"], "[a-f0-9]{40}").of(&["buildkite.com"]),
    Form::new("sonar-token", &["sqp_", "squ_", "sqa_"], "[a-f0-9]{40}").bounded().of(&["sonarcloud.io"]),
    Form::new("sourcegraph-token", &["sgp_local_", "sgp_"], "(?:[a-fA-F0-9]{16}_)?[a-fA-F0-9]{40}").bounded().of(&["sourcegraph.com"]),
    Form::new("octopus-key", &["API-"], "[A-Z0-9]{26}").bounded().goes_on("_-").checked(Check::MayBePublic).of(&["octopus.app"]),
    Form::new("postman-key", &["PMAK-"], "[a-f0-9]{24}-[a-f0-9]{34}").loose("[A-Za-z0-9_=-]{20,}").of(&["getpostman.com", "postman.com"]),
    Form::new("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], "[a-f0-9]{64}").of(&["intra.42.fr"]),
    Form::new("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], "[A-Za-z0-9_-]{36,}").loose("[A-Za-z0-9_-]{16,}").of(OPENAI),
    Form::new("anthropic-key", &["sk-ant-"], "[A-Za-z0-9_-]{32,}").loose("[A-Za-z0-9_-]{16,}").of(&["anthropic.com", "claude.ai"]),
    Form::new("openrouter-key", &["sk-or-"], "[A-Za-z0-9_-]{32,}").loose("[A-Za-z0-9_-]{16,}").of(&["openrouter.ai"]),
    Form::new("model-key", &["sk-"], "[A-Za-z0-9]{32,}").bounded().of(&["openai.com", "deepseek.com", "moonshot.cn", "moonshot.ai", "aliyuncs.com", "stability.ai"]),
    Form::new("huggingface-token", &["hf_"], "[A-Za-z0-9]{34,40}").loose("[A-Za-z0-9]{30,}").bounded().of(HUGGINGFACE),
    Form::new("huggingface-token", &["api_org_"], "[A-Za-z]{34}").bounded().of(HUGGINGFACE),
    Form::new("groq-key", &["gsk_"], "[A-Za-z0-9]{40,60}").loose("[A-Za-z0-9]{30,}").bounded().of(&["groq.com"]),
    Form::new("xai-key", &["xai-"], "[A-Za-z0-9]{60,90}").loose("[A-Za-z0-9]{30,}").bounded().of(&["x.ai"]),
    Form::new("nvidia-key", &["nvapi-"], "[A-Za-z0-9_-]{50,80}").loose("[A-Za-z0-9]{30,}").bounded().goes_on("_-").of(&["nvidia.com"]),
    Form::new("replicate-token", &["r8_"], "[A-Za-z0-9]{37}").loose("[A-Za-z0-9]{30,}").bounded().of(&["replicate.com"]),
    Form::new("perplexity-key", &["pplx-"], "[A-Za-z0-9]{40,60}").loose("[A-Za-z0-9]{30,}").bounded().of(&["perplexity.ai"]),
    Form::new("fireworks-key", &["fw_"], "[A-Za-z0-9]{24}").bounded().of(&["fireworks.ai"]),
    Form::new("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], "[a-f0-9]{32}_[a-f0-9]{10}").of(&["langchain.com"]),
    Form::new("pinecone-key", &["pcsk_"], "[A-Za-z0-9_]{50,80}").bounded().of(&["pinecone.io"]),
    Form::new("elevenlabs-key", &["sk_"], "[a-f0-9]{48}").bounded().of(&["elevenlabs.io"]),
    Form::new("tavily-key", &["tvly-"], "(?:dev-|prod-)?[A-Za-z0-9]{28,40}").bounded().of(&["tavily.com"]),
    Form::new("cerebras-key", &["csk-"], "[a-z0-9]{48}").bounded().of(&["cerebras.ai"]),
    Form::new("jwt", &["eyJ"], "[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*").loose("[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*){1,3}").bounded().goes_on("_-").checked(Check::Jwt),
    Form::new("password-hash", &["$1$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$2a$", "$2b$", "$2y$", "$argon2id$", "$argon2i$", "$argon2d$"], "[A-Za-z0-9./$=,+-]{20,}").checked(Check::Hash),
];
