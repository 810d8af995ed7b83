//! User Parameters: variables whose values differ between users.

use busyhour_program::element::{IterationStep, Processor, StopUser};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// Settings of user parameters. The compiler adds the element both before samplers and to the iterations of its
/// controller; [`Self::per_iteration`](UserParametersSettings::per_iteration) selects the one that sets the variables.
#[derive(Clone, Debug, Default)]
pub struct UserParametersSettings {
    /// `UserParameters.names`: the variables to set.
    pub names: Vec<Template>,
    /// `UserParameters.thread_values`: one list per user; more users than lists start again at the first list.
    pub values: Vec<Vec<Template>>,
    /// `UserParameters.per_iteration`: set the variables at each iteration instead of before each sampler.
    pub per_iteration: bool,
}

/// User parameters.
#[derive(Debug)]
pub struct UserParameters {
    settings: UserParametersSettings,
}

impl UserParameters {
    /// Creates the element from its settings.
    pub fn new(settings: UserParametersSettings, symbols: &mut Symbols) -> Self {
        for name in settings.names.iter().filter_map(Template::as_literal) {
            symbols.slot(name);
        }
        Self { settings }
    }

    fn set_variables(&self, user: &mut UserState) {
        let lists = &self.settings.values;
        if lists.is_empty() {
            return;
        }
        let values = &lists[user.number as usize % lists.len()];
        for (name, value) in self.settings.names.iter().zip(values) {
            let name = name.text(user);
            let value = value.text(user);
            user.variables.set(&name, &value);
        }
    }
}

impl Processor for UserParameters {
    fn process(&self, user: &mut UserState) {
        if !self.settings.per_iteration {
            self.set_variables(user);
        }
    }
}

impl IterationStep for UserParameters {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        if self.settings.per_iteration {
            self.set_variables(user);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_logging};

    #[test]
    fn users_get_the_lists_in_turn() {
        let list = |texts: &[&str]| texts.iter().map(|text| Template::literal(text)).collect::<Vec<_>>();
        for per_iteration in [false, true] {
            let mut symbols = Symbols::default();
            let settings = UserParametersSettings {
                names: list(&["a", "b"]),
                values: vec![list(&["1", "2"]), list(&["3"])],
                per_iteration,
            };
            let parameters = UserParameters::new(settings, &mut symbols);
            let after = |number: u32| {
                let mut user = user_logging(&symbols, number, std::sync::Arc::default());
                parameters.process(&mut user);
                assert_eq!(user.variables.get("a").is_none(), per_iteration);
                parameters.step(&mut user).expect("sets");
                all_variables(&user)
            };
            assert_eq!([after(0), after(1), after(2)], ["a=1 b=2", "a=3", "a=1 b=2"]);
        }
    }
}
