//! Converts the points of a what-if analysis to the data of its page.

use busyhour_capacity::{ModelResult, Point, ResultValue, Vary, WhatIfResults};
use busyhour_report::{
    WhatIfClass, WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, WhatIfStation, WhatIfValue,
};

/// The data of the page for the points of all models.
pub(super) fn page(vary: &[Vary], all: &[WhatIfResults]) -> WhatIfPage {
    WhatIfPage {
        parameters: vary.iter().map(|vary| vary.short().to_owned()).collect(),
        models: all.iter().map(model).collect(),
    }
}

fn model(WhatIfResults { model, points }: &WhatIfResults) -> WhatIfModel {
    let answers = || points.iter().filter_map(|point| point.result.as_ref().ok());
    let mut methods: Vec<String> = answers().map(|answer| answer.method.clone()).collect();
    methods.sort_unstable();
    methods.dedup();
    let mut caveats: Vec<String> = answers()
        .flat_map(|answer| &answer.ignored)
        .map(|broken| format!("approximate: {broken}; {}", broken.ignored_as()))
        .collect();
    caveats.sort_unstable();
    caveats.dedup();
    WhatIfModel {
        name: model.title().to_owned(),
        methods,
        caveats,
        points: points.iter().map(point).collect(),
    }
}

fn point(point: &Point) -> WhatIfPoint {
    let found = match &point.result {
        Ok(answer) => Ok(found(answer)),
        Err(why) => Err(why.short().into()),
    };
    WhatIfPoint { values: point.values.clone(), found }
}

fn found(answer: &ModelResult) -> WhatIfFound {
    let value =
        |value: Option<ResultValue>| value.map(|ResultValue { value, half }| WhatIfValue { value, half });
    let classes = answer
        .classes
        .iter()
        .map(|class| WhatIfClass {
            name: class.name.clone(),
            throughput_per_s: value(class.throughput_per_s),
            response_s: value(class.response_s),
            customers: value(class.customers),
            throughput_bound_per_s: class.bounds.map(|bounds| bounds.asymptotic_rate_per_s.to),
            response_bound_s: class.bounds.map(|bounds| bounds.asymptotic_response_s.from),
        })
        .collect();
    let stations = answer
        .stations
        .iter()
        .map(|station| WhatIfStation {
            name: station.name.clone(),
            utilization: value(station.utilization.filter(|_| station.has_servers)),
            customers: value(station.customers),
        })
        .collect();
    WhatIfFound { classes, stations }
}
