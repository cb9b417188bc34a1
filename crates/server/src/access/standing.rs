//! Rights that no password or token of ours goes with: those of groups of an OpenID Connect provider, and of who does not log in.

use super::grant::Graphs;
use super::rights::Rights;
use super::role::Role;
use super::users::{UserError, Users, check_rights, refused};
use super::written_rights::{ANONYMOUS, Standing, rights_of, written};

/// Groups have the names that their provider gives them: paths, numbers, IRIs.
const GROUP_BYTES_MAX: usize = 256;

/// Gives a role: [`Rights::give`].
fn give(
    standing: &mut Standing,
    role: Role,
    databases: &[String],
    graphs: &Graphs,
) -> Result<Rights, UserError> {
    let mut rights = standing.rights();
    rights.give(role, databases, graphs);
    check_rights(&rights)?;
    (standing.role, standing.databases) = written(&rights);
    Ok(rights)
}

impl Users {
    /// The rights of who does not log in, where the file has some.
    pub fn anonymous(&self) -> Option<Rights> {
        self.anonymous.as_ref().map(Standing::rights)
    }

    /// Gives who does not log in a role in these databases (in all, where none is named), and says for which graphs it is.
    ///
    /// # Errors
    /// Where the role is that of the administration, or cannot have rules for graphs.
    pub fn grant_anonymous(
        &mut self,
        role: Role,
        databases: &[String],
        graphs: &Graphs,
    ) -> Result<Rights, UserError> {
        if role == Role::Admin {
            return Err(refused(
                "nobody administers without a name: anonymous may have read or update".to_owned(),
            ));
        }
        let mut standing = self.anonymous.clone().unwrap_or_default();
        let rights = give(&mut standing, role, databases, graphs)?;
        self.anonymous = Some(standing);
        Ok(rights)
    }

    /// Removes what the file says of who does not log in.
    ///
    /// # Errors
    /// Where it says nothing.
    pub fn remove_anonymous(&mut self) -> Result<(), UserError> {
        let removed = self.anonymous.take().map(drop);
        removed.ok_or_else(|| refused(format!("there are no rules for {ANONYMOUS}")))
    }

    /// All groups, by name.
    pub fn groups(&self) -> Vec<(String, Rights)> {
        self.groups.iter().map(|(name, group)| (name.clone(), group.rights())).collect()
    }

    /// The rights of the groups that somebody has.
    pub(crate) fn of_groups(&self, is_had: impl Fn(&str) -> bool) -> Vec<Rights> {
        self.groups.iter().filter(|(name, _)| is_had(name)).map(|(_, group)| group.rights()).collect()
    }

    /// Gives a group, which need not be there, a role in these databases (in all, where none is named), and says for which graphs it is.
    ///
    /// # Errors
    /// Where the name is not fit for it, or the role cannot have rules for graphs.
    pub fn grant_group(
        &mut self,
        name: &str,
        role: Role,
        databases: &[String],
        graphs: &Graphs,
    ) -> Result<Rights, UserError> {
        let is_fit = (1..=GROUP_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control);
        if !is_fit {
            return Err(refused(format!("the name of a group has 1 to {GROUP_BYTES_MAX} bytes")));
        }
        let mut group = self.groups.get(name).cloned().unwrap_or_default();
        let rights = give(&mut group, role, databases, graphs)?;
        self.groups.insert(name.to_owned(), group);
        Ok(rights)
    }

    /// Removes a group.
    ///
    /// # Errors
    /// Where there is none of this name.
    pub fn remove_group(&mut self, name: &str) -> Result<(), UserError> {
        self.groups.remove(name).map(drop).ok_or_else(|| refused(format!("there is no group {name}")))
    }

    /// Whether what the file says of groups and of who does not log in are rights.
    pub(super) fn check_standing(&self) -> Result<(), String> {
        if self.users().iter().any(|(name, ..)| name == ANONYMOUS) {
            return Err(format!("{ANONYMOUS} is no user: it is who does not log in"));
        }
        let groups = self.groups.iter().map(|(name, group)| (name.as_str(), group));
        for (name, standing) in groups.chain(self.anonymous.iter().map(|standing| (ANONYMOUS, standing))) {
            let rights = rights_of(standing.role.as_ref(), &standing.databases);
            let rights = rights.map_err(|what| format!("the rights of {name}: {what}"))?;
            if name == ANONYMOUS && rights.administers() {
                return Err(format!("{ANONYMOUS} cannot have the role {}", Role::Admin));
            }
        }
        Ok(())
    }
}
