//! Tokens of an OpenID Connect provider, on the command line of `lode serve`.

use clap::Args;
use lode_server::{KeyPlace, Oidc, Rights, Role};

/// Whose tokens are believed.
#[derive(Debug, Clone, Args)]
pub struct OidcArgs {
    /// Believe tokens (Bearer, JWT) of this OpenID Connect provider: what their claim iss is, to the letter. --oidc-audience and --oidc-jwks
    /// go with it
    #[arg(long, value_name = "URL")]
    pub oidc_issuer: Option<String>,
    /// For whom they must be: what is, or is in, their claim aud; repeatable
    #[arg(long, value_name = "TEXT")]
    pub oidc_audience: Vec<String>,
    /// Where the provider's keys are (jwks_uri in its /.well-known/openid-configuration): an address, which is asked again for keys that are
    /// not known yet, once a minute at most; or a file
    #[arg(long, value_name = "FILE|URL")]
    pub oidc_jwks: Option<KeyPlace>,
    /// The claim with the name of who sends a token, for logs and limits; a dot goes into an object. Where it is missing, sub
    #[arg(long, default_value = "sub", value_name = "CLAIM")]
    pub oidc_name_claim: String,
    /// The claim with roles or groups: a list, or a text of words; a dot goes into an object, as in realm_access.roles
    #[arg(long, default_value = "roles", value_name = "CLAIM")]
    pub oidc_roles_claim: String,
    /// What one of these gives: editors=update, or editors=update@books for one database; *=read is for every token; repeatable. lode group
    /// gives them roles for some graphs, too
    #[arg(long, value_name = "VALUE=ROLE[@NAME]", value_parser = parse_given)]
    pub oidc_role: Vec<Given>,
}

/// What a role or a group of the provider gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    value: String,
    rights: Rights,
}

impl OidcArgs {
    /// The provider, if there is one.
    ///
    /// # Errors
    /// Where options are there without those that they need.
    pub fn provider(&self) -> Result<Option<Oidc>, String> {
        let (issuer, keys) = match (&self.oidc_issuer, &self.oidc_jwks) {
            (Some(issuer), Some(keys)) if !self.oidc_audience.is_empty() => (issuer, keys),
            (None, None) if self.oidc_audience.is_empty() && self.oidc_role.is_empty() => return Ok(None),
            _ => {
                return Err(
                    "--oidc-issuer, --oidc-audience and --oidc-jwks go together: give all three, or none"
                        .to_owned(),
                );
            }
        };
        Ok(Some(Oidc {
            issuer: issuer.clone(),
            audiences: self.oidc_audience.clone(),
            keys: keys.clone(),
            name_claim: self.oidc_name_claim.clone(),
            roles_claim: self.oidc_roles_claim.clone(),
            roles: self.oidc_role.iter().map(|given| (given.value.clone(), given.rights.clone())).collect(),
            fetch_every: Oidc::FETCH_EVERY,
        }))
    }
}

/// `VALUE=ROLE` or `VALUE=ROLE@DATABASE`. Values may have `=` in them.
fn parse_given(text: &str) -> Result<Given, String> {
    let expected = || "expected VALUE=ROLE or VALUE=ROLE@DATABASE, such as editors=update@books".to_owned();
    let (value, given) = text.rsplit_once('=').filter(|(value, _)| !value.is_empty()).ok_or_else(expected)?;
    let (role, database) = match given.split_once('@') {
        Some((_, "")) => return Err(expected()),
        Some((role, database)) => (role, vec![database.to_owned()]),
        None => (given, Vec::new()),
    };
    let role: Role = role.parse()?;
    Ok(Given { value: value.to_owned(), rights: Rights::new(role, &database) })
}

#[cfg(test)]
mod tests {
    //! What roles of a provider give, as it is written.
    use super::parse_given;

    #[test]
    fn roles_and_what_they_give() {
        for (text, value, rights) in [
            ("editors=update", "editors", "update"),
            ("/a=b=read@books", "/a=b", "read in books"),
            ("*=read", "*", "read"),
        ] {
            let given = parse_given(text).unwrap();
            assert_eq!((given.value.as_str(), given.rights.to_string().as_str()), (value, rights));
        }
        for text in ["", "x", "=read", "x=", "x=write", "x=read@"] {
            assert!(parse_given(text).is_err(), "{text}");
        }
    }
}
