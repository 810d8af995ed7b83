//! User parameters: values of variables that differ from user to user.

use busyhour_program::element::{IterationStep, Processor, StopUser};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// Settings of user parameters. Compile puts them both before samplers and at the passes of their
/// controller: [`Self::per_iteration`](UserParametersSettings::per_iteration) decides which of the two acts.
#[derive(Clone, Debug, Default)]
pub struct UserParametersSettings {
    /// `UserParameters.names`
    pub names: Vec<Template>,
    /// `UserParameters.thread_values`: one list per user, taken in turn.
    pub values: Vec<Vec<Template>>,
    /// `UserParameters.per_iteration`: set at each pass, not before each sampler.
    pub per_iteration: bool,
}

/// User parameters.
#[derive(Debug)]
pub struct UserParameters {
    settings: UserParametersSettings,
}

impl UserParameters {
    /// Takes user parameters out of the plan.
    pub fn new(settings: UserParametersSettings, symbols: &mut Symbols) -> Self {
        for name in settings.names.iter().filter_map(Template::as_literal) {
            symbols.slot(name);
        }
        Self { settings }
    }

    fn set(&self, user: &mut UserState) {
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
            self.set(user);
        }
    }
}

impl IterationStep for UserParameters {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        if self.settings.per_iteration {
            self.set(user);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_logging};

    #[test]
    fn lists_are_taken_in_turn() {
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
