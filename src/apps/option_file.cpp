#include "option_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "halo/base/error.hpp"

namespace halo::apps {
namespace {

constexpr const char* kConfig = "--config";

std::string trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

/// The line up to a # outside of quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#') {
      return line.substr(0, i);
    }
  }
  return line;
}

/// The words of a value as a command line would have them. Throws nlohmann's exception on a broken string or
/// array, whose notation (but for '...') TOML shares with JSON.
std::vector<std::string> words_of(const std::string& value) {
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') {
    return {value.substr(1, value.size() - 2)};
  }
  if (value.front() != '"' && value.front() != '[') return {value};
  const auto parsed = nlohmann::json::parse(value);
  if (parsed.is_string()) return {parsed.get<std::string>()};
  std::vector<std::string> words;
  for (const auto& element : parsed) {
    words.push_back(element.is_string() ? element.get<std::string>() : element.dump());
  }
  return words;
}

/// Reads the file for CLI11, which applies what the command line left open.
class OptionFile final : public CLI::ConfigBase {
 public:
  explicit OptionFile(const CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> lines;
    std::set<std::string> seen;
    std::string line;
    for (int number = 1; std::getline(input, line); ++number) {
      const std::string text = trimmed(without_comment(line));
      if (text.empty()) continue;
      lines.push_back(read_line(text, number));
      if (!seen.insert(lines.back().name).second) {
        refuse("an option is set twice", number, lines.back().name, "each option once", "delete one of them");
      }
    }
    std::erase_if(lines, [](const CLI::ConfigItem& item) { return item.inputs.empty(); });  // "x = []"
    return lines;
  }

 private:
  CLI::ConfigItem read_line(const std::string& text, int number) const {
    const std::size_t equals = text.find('=');
    CLI::ConfigItem item;
    item.name = trimmed(text.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : trimmed(text.substr(equals + 1));
    if (item.name.empty() || value.empty()) refuse_line(number, text);
    const CLI::Option* option = app_.get_option_no_throw("--" + item.name);
    if (option == nullptr || !option->get_configurable()) {
      refuse("unknown option", number, item.name, "the name of an option without --",
             "see --help for the options");
    }
    try {
      item.inputs = words_of(value);
    } catch (const nlohmann::json::exception&) {
      refuse_line(number, text);
    }
    return item;
  }

  [[noreturn]] void refuse_line(int number, const std::string& text) const {
    refuse("a line that cannot be read", number, text,
           "key = value: a number, true, false, \"text\" or [a, b]", "correct the line");
  }

  [[noreturn]] void refuse(const std::string& what, int line, const std::string& found,
                           const std::string& expected, const std::string& next) const {
    const auto file = app_.get_option(kConfig)->as<std::string>();
    throw InputError({.what = what,
                      .where = fmt::format("{}, line {}", file, line),
                      .found = found,
                      .expected = expected,
                      .next = next});
  }

  const CLI::App& app_;
};

/// A value as the option's type has it.
nlohmann::json typed(const std::string& type, const std::string& text) {
  if (type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT")) {
    const auto number = nlohmann::json::parse(text, nullptr, false);
    if (type.starts_with("FLOAT")) return std::stod(text);
    if (number.is_number_integer()) return number;
  }
  return text;
}

nlohmann::json typed_list(const std::string& type, const std::vector<std::string>& words) {
  nlohmann::json values = nlohmann::json::array();
  for (const std::string& word : words) values.push_back(typed(type, word));
  return values;
}

/// CLI11's text of a list of words without blanks: "[a,b]".
std::vector<std::string> list_words(const std::string& text) {
  const std::string inner = text.size() < 2 ? "" : text.substr(1, text.size() - 2);
  return inner.empty() ? std::vector<std::string>{} : CLI::detail::split(inner, ',');
}

/// Whether a flag is given; one that turns something off ("!--no-x") holds the opposite in its variable.
bool is_set(const CLI::Option& flag) {
  if (flag.count() == 0) return false;
  return flag.as<bool>() != flag.check_fname(flag.get_lnames().front());
}

nlohmann::json resolved_value(CLI::Option& option) {
  if (option.get_expected_max() == 0) return is_set(option);
  const std::string type = option.get_type_name();
  const bool is_list = option.get_items_expected_max() > 1;
  if (option.count() == 0) {
    option.capture_default_str();  // what the variable holds now
    if (is_list) return typed_list(type, list_words(option.get_default_str()));
    return typed(type, option.get_default_str());
  }
  if (!is_list) return typed(type, option.results().back());
  return typed_list(type, option.results());
}

std::vector<CLI::Option*> configurable_options(CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->get_configurable() && !option->get_lnames().empty(); });
}

}  // namespace

void add_option_file(CLI::App& app, const std::string& default_file) {
  app.set_config(kConfig, default_file, "read options from this TOML file; the command line overrides it",
                 !default_file.empty());
  app.config_formatter(std::make_shared<OptionFile>(app));
}

train::OptionRecord record_of(CLI::App& app) {
  train::OptionRecord record;
  for (CLI::Option* option : configurable_options(app)) {
    record.entries.push_back({.group = option->get_group(),
                              .name = option->get_lnames().front(),
                              .value = resolved_value(*option)});
  }
  return record;
}

}  // namespace halo::apps
