//! Calls of JMeter's own objects.

use super::{Fault, Machine, Outcome};
use crate::Value;
use crate::syntax::names::{HostMethod, SampleField};

/// A method that takes a `String` is found only for a text or null.
fn text_argument(value: &Value) -> Result<Option<&str>, Fault> {
    match value {
        Value::Text(text) => Ok(Some(text)),
        Value::Null => Ok(None),
        other => Err(Fault::new(format!("the method takes a String, not {}", other.type_name()))),
    }
}

impl Machine<'_> {
    pub(super) fn host_call(&mut self, method: HostMethod, arguments: &[Value]) -> Outcome {
        match method {
            HostMethod::GetVariable => Ok(text_argument(&arguments[0])?
                .map_or(Value::Null, |name| Value::text_or_null(self.scope.get(name)))),
            HostMethod::PutVariable => {
                let name = text_argument(&arguments[0])?.ok_or("the name is null")?;
                match text_argument(&arguments[1])? {
                    Some(value) => self.scope.set(name, value),
                    None => self.scope.remove(name),
                }
                Ok(Value::Null)
            }
            HostMethod::RemoveVariable => {
                let name = text_argument(&arguments[0])?.ok_or("the name is null")?;
                let old = Value::text_or_null(self.scope.get(name));
                self.scope.remove(name);
                Ok(old)
            }
            HostMethod::GetProperty => {
                let name = text_argument(&arguments[0])?.ok_or("the name is null")?;
                match (self.scope.property(name), arguments.get(1)) {
                    (Some(value), _) => Ok(Value::Text(value.into())),
                    (None, Some(default)) => Ok(text_argument(default)?.map_or(Value::Null, Value::text)),
                    (None, None) => Ok(Value::Null),
                }
            }
            HostMethod::PutProperty => {
                let name = text_argument(&arguments[0])?.ok_or("the name is null")?;
                let value = text_argument(&arguments[1])?.ok_or("the value is null")?;
                let old = Value::text_or_null(self.scope.property(name));
                self.scope.set_property(name, value);
                Ok(old)
            }
            HostMethod::Log(level) => {
                let message = text_argument(&arguments[0])?.unwrap_or("null");
                self.scope.log(level, message);
                Ok(Value::Null)
            }
            HostMethod::ThreadNumber => Ok(Value::Integer(self.scope.thread_number() as i32)),
            HostMethod::Sample(field) => self.sample_field(field),
            _ => self.change_sample(method, &arguments[0]),
        }
    }

    fn sample_field(&self, field: SampleField) -> Outcome {
        let sample = self.scope.sample().ok_or("there is no sample result yet")?;
        Ok(match field {
            SampleField::Label => Value::Text(sample.label().into()),
            SampleField::ResponseCode => Value::Text(sample.response_code().into()),
            SampleField::ResponseMessage => Value::Text(sample.response_message().into()),
            SampleField::ResponseData => Value::Text(sample.response_data_as_string().into()),
            SampleField::ResponseHeaders => Value::Text(sample.response_headers().into()),
            SampleField::Url => Value::Text(sample.url().into()),
            SampleField::ThreadName => Value::Text(self.scope.thread_name().into()),
            SampleField::Successful => Value::Boolean(sample.is_successful()),
            SampleField::Time => Value::Long(sample.elapsed_ms()),
            SampleField::Latency => Value::Long(sample.latency_ms()),
            SampleField::ConnectTime => Value::Long(sample.connect_ms()),
            SampleField::StartTime => Value::Long(sample.start_time_ms()),
            SampleField::EndTime => Value::Long(sample.end_time_ms()),
            SampleField::Bytes => Value::Long(sample.received_bytes()),
        })
    }

    fn change_sample(&mut self, method: HostMethod, argument: &Value) -> Outcome {
        let sample = self.scope.sample_mut().ok_or("there is no sample result that the script may change")?;
        match method {
            HostMethod::SetSuccessful => match argument {
                Value::Boolean(successful) => sample.set_successful(*successful),
                other => {
                    return Err(Fault::new(format!(
                        "`setSuccessful` takes a boolean, not {}",
                        other.type_name()
                    )));
                }
            },
            _ => {
                let text = text_argument(argument)?.ok_or("the text is null")?;
                match method {
                    HostMethod::SetResponseCode => sample.set_response_code(text),
                    HostMethod::SetResponseMessage => sample.set_response_message(text),
                    _ => sample.set_label(text),
                }
            }
        }
        Ok(Value::Null)
    }
}
