// What the engine offers to a chat template under names: functions, and the methods and filters of values.
#pragma once

#include <string>

#include "text/template/meter.h"

namespace punt {

/// A method of a value that is safe to call: `meter` must outlive it.
class CheckedMethod : public jinja::value_func_t {
 public:
  CheckedMethod(const std::string& method, const jinja::func_handler& handler, const jinja::value& object,
                TemplateMeter& meter);
};

/// A method that the engine looked up, made safe.
jinja::value Checked(const jinja::value& method, TemplateMeter& meter);

/// `value | name(arguments)`. `arguments` are without the value.
jinja::value CallFilter(const jinja::func_args& arguments, std::string name, jinja::value value, TemplateMeter& meter);

/// What {{ value }} writes; undefined writes nothing.
jinja::value Shown(const jinja::value& value, TemplateMeter& meter);

/// left `op` right for - + * / % ~, where the result may be large or undefined; nullptr where the engine knows best.
jinja::value Computed(const std::string& op, const jinja::value& left, const jinja::value& right, TemplateMeter& meter);

/// value[start:stop:step]; none or undefined where left out.
jinja::value Sliced(const jinja::value& value, const jinja::value& start, const jinja::value& stop,
                    const jinja::value& step, TemplateMeter& meter);

/// The character at `index` of a text; undefined when there is none.
jinja::value CharacterAt(const jinja::value& text, std::int64_t index);

/// raise_exception, strftime_now, range, namespace, tojson.
void AddFunctions(jinja::context& context, TemplateMeter& meter);

}  // namespace punt
