// The engine has a class for each kind of node. Here the nodes of a template that was read are replaced by nodes of
// classes derived from these: the engine still recognises them, and they run the engine's code, but count first, and
// take over where the engine does not bound what it does or loses track of whose words a text holds.
//
// What bounds what:
//   nesting of the text         CheckNesting (nesting.h), before the parser recurses
//   recursion of macros         Level: in every node that has others below it
//   loops                       each pass is paid for with the list, before it begins
//   size and depth of values    Measure: where lists are made, handed to functions, compared or written
//   functions                   builtins.h
//   cycles                      Changed: assignments to members, append
//
// A scope copies all variables, so what makes one (a pass of a loop, a call) costs in proportion to the number of
// variables that the template names.
#include "text/template/guard.h"

#include <jinja/parser.h>

#include <utility>

#include "text/template/builtins.h"
#include "text/template/nesting.h"

namespace punt {
namespace {

using jinja::cast_stmt;
using jinja::context;
using jinja::is_stmt;
using jinja::is_val;
using jinja::mk_val;
using jinja::statement_ptr;
using jinja::statements;
using jinja::value;

constexpr std::size_t kLongestTemplate = std::size_t{1} << 17;
constexpr std::int64_t kLargestLiteral = 1'000'000'000'000;

/// A node with a value that is known.
struct Held : jinja::expression {
  mutable value held;
  explicit Held(value v = nullptr) : held(std::move(v)) {}
  value execute_impl(context&) const override { return held; }
};

/// A variable or function. The engine would copy its table of functions each time.
struct Name : jinja::identifier {
  TemplateMeter& meter;
  Name(jinja::identifier&& node, TemplateMeter& m) : identifier(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Step();
    value found = ctx.get_val(val);
    if (!found->is_undefined() || !jinja::global_builtins().contains(val)) return found;
    return identifier::execute_impl(ctx);
  }
};

/// A node whose result is measured if it is more than a text or a number. In a body, it is written.
struct Measured : jinja::expression {
  statement_ptr inner;
  TemplateMeter& meter;
  bool is_written;
  Measured(statement_ptr node, TemplateMeter& m, bool written) : inner(std::move(node)), meter(m), is_written(written) {
    pos = inner->pos;
  }
  std::string type() const override { return inner->type(); }
  value execute_impl(context& ctx) const override {
    meter.Step();
    const TemplateMeter::Level level(meter);
    value result = inner->execute(ctx);
    if (is_written) {
      result = Shown(result, meter);
      meter.Bytes(result->val_str.length() + 32 * result->val_str.parts.size());
    } else if (is_val<jinja::value_array>(result) || is_val<jinja::value_object>(result) ||
               is_val<jinja::value_func>(result) || is_val<jinja::value_kwarg>(result)) {
      meter.Measure(result);
    }
    return result;
  }
};

/// The list of a loop: each item costs a pass.
struct Iterated : jinja::expression {
  statement_ptr inner;
  TemplateMeter& meter;
  Iterated(statement_ptr node, TemplateMeter& m) : inner(std::move(node)), meter(m) { pos = inner->pos; }
  std::string type() const override { return inner->type(); }
  value execute_impl(context& ctx) const override {
    value list = inner->execute(ctx);
    const std::size_t size = list->val_arr.size() + list->val_obj.size();
    meter.Scopes(2 * (size + 1));
    return list;
  }
};

struct Binary : jinja::binary_expression {
  TemplateMeter& meter;
  Binary(jinja::binary_expression&& node, TemplateMeter& m) : binary_expression(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Step();
    const TemplateMeter::Level level(meter);
    if (op.value == "and" || op.value == "or") return binary_expression::execute_impl(ctx);
    value l = left->execute(ctx);
    value r = right->execute(ctx);
    meter.Bytes(l->val_str.length() + r->val_str.length());
    value result = Computed(op.value, l, r, meter);
    if (result) {
      if (is_val<jinja::value_string>(result)) meter.Measure(result);
      return result;
    }
    const binary_expression known(op, std::make_unique<Held>(l), std::make_unique<Held>(r));
    return known.execute_impl(ctx);
  }
};

struct Member : jinja::member_expression {
  TemplateMeter& meter;
  statement_ptr whole;
  statement_ptr key;  // of [key]
  Held* held_object;
  Held* held_key = nullptr;
  Member(jinja::member_expression&& node, TemplateMeter& m) : member_expression(std::move(node)), meter(m) {
    auto slot = std::make_unique<Held>();
    held_object = slot.get();
    whole = std::exchange(object, std::move(slot));
    if (!computed || is_stmt<jinja::slice_expression>(property)) return;
    auto key_slot = std::make_unique<Held>();
    held_key = key_slot.get();
    key = std::exchange(property, std::move(key_slot));
  }
  value execute_impl(context& ctx) const override {
    meter.Step();
    const TemplateMeter::Level level(meter);
    value of = whole->execute(ctx);
    if (computed && !key) {
      const auto* slice = cast_stmt<jinja::slice_expression>(property);
      const auto part = [&](const statement_ptr& node) { return node ? node->execute(ctx) : nullptr; };
      const value start = part(slice->start_expr);
      const value stop = part(slice->stop_expr);
      return Sliced(of, start, stop, part(slice->step_expr), meter);
    }
    if (const auto* name = computed ? nullptr : cast_stmt<jinja::identifier>(property)) {
      const jinja::func_builtins& methods = of->get_builtins();
      const auto method = methods.find(name->val);
      if (method != methods.end()) return std::make_shared<CheckedMethod>(name->val, method->second, of, meter);
    }
    const auto* place = computed ? nullptr : cast_stmt<jinja::integer_literal>(property);  // text.0
    if (key || place != nullptr) {
      value at = key ? key->execute(ctx) : place->execute(ctx);
      if (is_val<jinja::value_string>(of) && is_val<jinja::value_int>(at)) {
        meter.Bytes(of->val_str.length());
        return CharacterAt(of, at->as_int());
      }
      if (held_key != nullptr) held_key->held = at;
    }
    if (is_val<jinja::value_object>(of) && !computed && is_stmt<jinja::identifier>(property)) {
      value missing = mk_val<jinja::value_undefined>("object_property");
      return of->at(cast_stmt<jinja::identifier>(property)->val, missing);
    }
    // Nothing else runs before the engine reads these.
    held_object->held = of;
    value result = member_expression::execute_impl(ctx);
    held_object->held = nullptr;
    if (held_key != nullptr) held_key->held = nullptr;
    return Checked(result, meter);
  }
};

value Filtered(const statement_ptr& filter, context& ctx, const value& operand, TemplateMeter& meter) {
  jinja::func_args args(ctx);
  if (const auto* call = cast_stmt<jinja::call_expression>(filter)) {
    for (const statement_ptr& argument : call->args) args.push_back(argument->execute(ctx));
    const auto* name = cast_stmt<jinja::identifier>(call->callee);
    if (name == nullptr) StopTemplate("it filters by what has no name");
    return CallFilter(args, name->val, operand, meter);
  }
  const auto* name = cast_stmt<jinja::identifier>(filter);
  if (name == nullptr) StopTemplate("it filters by what has no name");
  return CallFilter(args, name->val, operand, meter);
}

struct Filter : jinja::filter_expression {
  TemplateMeter& meter;
  Filter(jinja::filter_expression&& node, TemplateMeter& m) : filter_expression(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Step();
    const TemplateMeter::Level level(meter);
    return Filtered(filter, ctx, operand->execute(ctx), meter);
  }
};

struct FilterBlock : jinja::filter_statement {
  TemplateMeter& meter;
  FilterBlock(jinja::filter_statement&& node, TemplateMeter& m) : filter_statement(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    auto written = mk_val<jinja::value_array>();
    for (const statement_ptr& node : body) written->push_back(node->execute(ctx));
    return Filtered(filter, ctx, jinja::runtime::gather_string_parts(written), meter);
  }
};

struct Test : jinja::test_expression {
  Test(jinja::test_expression&& node) : test_expression(std::move(node)) {}
  value execute_impl(context& ctx) const override {
    const auto* call = cast_stmt<jinja::call_expression>(test);
    const auto* name = call == nullptr ? nullptr : cast_stmt<jinja::identifier>(call->callee);
    if (name == nullptr || name->val != "divisibleby") return test_expression::execute_impl(ctx);
    const value number = operand->execute(ctx);
    const value divisor = call->args.empty() ? nullptr : call->args[0]->execute(ctx);
    if (!divisor || !is_val<jinja::value_int>(divisor) || divisor->as_int() == 0) StopTemplate("it divides by zero");
    if (divisor->as_int() == -1) return mk_val<jinja::value_bool>(!negate);
    return mk_val<jinja::value_bool>((number->as_int() % divisor->as_int() == 0) != negate);
  }
};

struct Call : jinja::call_expression {
  TemplateMeter& meter;
  Call(jinja::call_expression&& node, TemplateMeter& m) : call_expression(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Scopes(1);
    const TemplateMeter::Level level(meter);
    return call_expression::execute_impl(ctx);
  }
};

struct CallBlock : jinja::call_statement {
  TemplateMeter& meter;
  CallBlock(jinja::call_statement&& node, TemplateMeter& m) : call_statement(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Scopes(4);
    return call_statement::execute_impl(ctx);
  }
};

/// What has no more to it than that it recurses.
template <typename Node>
struct Deeper : Node {
  TemplateMeter& meter;
  Deeper(Node&& node, TemplateMeter& m) : Node(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Step();
    const TemplateMeter::Level level(meter);
    return Node::execute_impl(ctx);
  }
};

struct Object : jinja::object_literal {
  TemplateMeter& meter;
  Object(jinja::object_literal&& node, TemplateMeter& m) : object_literal(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    const TemplateMeter::Level level(meter);
    auto object = mk_val<jinja::value_object>();
    for (const auto& [key_node, node] : val) {
      const value key = key_node->execute(ctx);
      if (!is_val<jinja::value_string>(key) && !key->is_numeric()) StopTemplate("a key is neither text nor number");
      object->insert(key, node->execute(ctx));
    }
    meter.Measure(object);
    return object;
  }
};

template <typename Literal>
struct List : Literal {
  TemplateMeter& meter;
  List(Literal&& node, TemplateMeter& m) : Literal(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    const TemplateMeter::Level level(meter);
    value list = Literal::execute_impl(ctx);
    meter.Measure(list);
    return list;
  }
};

struct Set : jinja::set_statement {
  TemplateMeter& meter;
  Set(jinja::set_statement&& node, TemplateMeter& m) : set_statement(std::move(node)), meter(m) {}
  value execute_impl(context& ctx) const override {
    meter.Scopes(1);
    if (const auto* member = cast_stmt<jinja::member_expression>(assignee)) {
      const auto* name = cast_stmt<jinja::identifier>(member->object);
      if (name == nullptr) StopTemplate("it assigns to a member of what has no name");
      meter.Changed(ctx.get_val(name->val));
    }
    return set_statement::execute_impl(ctx);
  }
};

void Watched(statement_ptr& node, TemplateMeter& meter);

void WatchedBody(statements& body, TemplateMeter& meter) {
  for (statement_ptr& node : body) {
    Watched(node, meter);
    node = std::make_unique<Measured>(std::move(node), meter, true);
  }
}

void WatchedValue(statement_ptr& node, TemplateMeter& meter) {
  if (!node) return;
  Watched(node, meter);
  node = std::make_unique<Measured>(std::move(node), meter, false);
}

void WatchedAll(statements& nodes, TemplateMeter& meter) {
  for (statement_ptr& node : nodes) Watched(node, meter);
}

/// `name` or `name(arguments)` behind a | or an `is`: run by what it belongs to.
void WatchedArguments(statement_ptr& node, TemplateMeter& meter) {
  if (auto* call = cast_stmt<jinja::call_expression>(node)) {
    for (statement_ptr& argument : call->args) WatchedValue(argument, meter);
  }
}

template <typename Guard, typename Node>
void Replace(statement_ptr& node, Node& plain, TemplateMeter& meter) {
  auto guard = std::make_unique<Guard>(std::move(plain), meter);
  node = std::move(guard);
}

bool WatchedStatement(statement_ptr& node, TemplateMeter& meter) {
  if (auto* choice = cast_stmt<jinja::if_statement>(node)) {
    Watched(choice->test, meter);
    WatchedBody(choice->body, meter);
    WatchedBody(choice->alternate, meter);
  } else if (auto* loop = cast_stmt<jinja::for_statement>(node)) {
    meter.AddVariables(4);
    if (auto* some = cast_stmt<jinja::select_expression>(loop->iterable)) {
      Watched(some->lhs, meter);
      Watched(some->test, meter);
      some->lhs = std::make_unique<Iterated>(std::move(some->lhs), meter);
    } else {
      Watched(loop->iterable, meter);
      loop->iterable = std::make_unique<Iterated>(std::move(loop->iterable), meter);
    }
    WatchedBody(loop->body, meter);
    WatchedBody(loop->default_block, meter);
  } else if (auto* set = cast_stmt<jinja::set_statement>(node)) {
    meter.AddVariables(1);
    if (auto* names = cast_stmt<jinja::tuple_literal>(set->assignee)) meter.AddVariables(names->val.size());
    WatchedValue(set->val, meter);
    WatchedBody(set->body, meter);
    Replace<Set>(node, *set, meter);
  } else if (auto* macro = cast_stmt<jinja::macro_statement>(node)) {
    meter.AddVariables(1 + macro->args.size());
    for (statement_ptr& argument : macro->args) {
      if (auto* named = cast_stmt<jinja::keyword_argument_expression>(argument)) Watched(named->val, meter);
    }
    WatchedBody(macro->body, meter);
  } else if (auto* block = cast_stmt<jinja::filter_statement>(node)) {
    WatchedArguments(block->filter, meter);
    WatchedBody(block->body, meter);
    Replace<FilterBlock>(node, *block, meter);
  } else if (auto* with_block = cast_stmt<jinja::call_statement>(node)) {
    Watched(with_block->call, meter);
    for (statement_ptr& argument : with_block->caller_args) {
      if (auto* named = cast_stmt<jinja::keyword_argument_expression>(argument)) Watched(named->val, meter);
    }
    WatchedBody(with_block->body, meter);
    Replace<CallBlock>(node, *with_block, meter);
  } else {
    return false;
  }
  return true;
}

void Watched(statement_ptr& node, TemplateMeter& meter) {
  if (!node || WatchedStatement(node, meter)) return;
  if (auto* name = cast_stmt<jinja::identifier>(node)) {
    // The engine keeps its tests among its functions, where nothing watches them.
    if (name->val.starts_with("test_is_")) StopTemplate("it calls " + name->val);
    Replace<Name>(node, *name, meter);
  } else if (auto* number = cast_stmt<jinja::integer_literal>(node)) {
    if (number->val > kLargestLiteral || number->val < -kLargestLiteral) StopTemplate("a number is too large");
  } else if (auto* binary = cast_stmt<jinja::binary_expression>(node)) {
    WatchedValue(binary->left, meter);
    WatchedValue(binary->right, meter);
    Replace<Binary>(node, *binary, meter);
  } else if (auto* member = cast_stmt<jinja::member_expression>(node)) {
    Watched(member->object, meter);
    if (auto* slice = cast_stmt<jinja::slice_expression>(member->property)) {
      for (statement_ptr* part : {&slice->start_expr, &slice->stop_expr, &slice->step_expr}) Watched(*part, meter);
    } else if (member->computed) {
      WatchedValue(member->property, meter);
    }
    Replace<Member>(node, *member, meter);
  } else if (auto* filter = cast_stmt<jinja::filter_expression>(node)) {
    Watched(filter->operand, meter);
    WatchedArguments(filter->filter, meter);
    Replace<Filter>(node, *filter, meter);
  } else if (auto* test = cast_stmt<jinja::test_expression>(node)) {
    WatchedValue(test->operand, meter);
    WatchedArguments(test->test, meter);
    node = std::make_unique<Test>(std::move(*test));
  } else if (auto* call = cast_stmt<jinja::call_expression>(node)) {
    Watched(call->callee, meter);
    WatchedAll(call->args, meter);
    Replace<Call>(node, *call, meter);
  } else if (auto* list = cast_stmt<jinja::array_literal>(node)) {
    WatchedAll(list->val, meter);
    Replace<List<jinja::array_literal>>(node, *list, meter);
  } else if (auto* tuple = cast_stmt<jinja::tuple_literal>(node)) {
    WatchedAll(tuple->val, meter);
    Replace<List<jinja::tuple_literal>>(node, *tuple, meter);
  } else if (auto* object = cast_stmt<jinja::object_literal>(node)) {
    for (auto& [key, item] : object->val) {
      Watched(key, meter);
      Watched(item, meter);
    }
    Replace<Object>(node, *object, meter);
  } else if (auto* choice = cast_stmt<jinja::ternary_expression>(node)) {
    for (statement_ptr* part : {&choice->condition, &choice->true_expr, &choice->false_expr}) Watched(*part, meter);
    Replace<Deeper<jinja::ternary_expression>>(node, *choice, meter);
  } else if (auto* some = cast_stmt<jinja::select_expression>(node)) {
    Watched(some->lhs, meter);
    Watched(some->test, meter);
    Replace<Deeper<jinja::select_expression>>(node, *some, meter);
  } else if (auto* unary = cast_stmt<jinja::unary_expression>(node)) {
    Watched(unary->argument, meter);
    Replace<Deeper<jinja::unary_expression>>(node, *unary, meter);
  } else if (auto* named = cast_stmt<jinja::keyword_argument_expression>(node)) {
    Watched(named->val, meter);
  }
}

}  // namespace

jinja::program ReadTemplate(const std::string& text, TemplateMeter& meter) {
  if (text.size() > kLongestTemplate) StopTemplate("it has more than 131072 bytes");
  jinja::lexer lexer;
  const jinja::lexer_result read = lexer.tokenize(text);
  CheckNesting(read.tokens);
  jinja::program program = jinja::parse_from_tokens(read);
  WatchedBody(program.body, meter);
  return program;
}

}  // namespace punt
