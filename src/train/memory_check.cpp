#include "halo/train/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "halo/base/byte_count.hpp"
#include "halo/base/cpu.hpp"
#include "halo/base/error.hpp"

namespace halo::train {
namespace {

std::int64_t total(const MemoryNeed& need) {
  std::int64_t bytes = 0;
  for (const PurposeBytes& entry : need.purposes) bytes += entry.bytes;
  return bytes;
}

/// "graph structure 1.20 GiB, features 400 MiB": those that matter, the largest first.
std::string by_purpose(const MemoryNeed& need) {
  std::vector<PurposeBytes> entries = need.purposes;
  std::ranges::stable_sort(entries, std::ranges::greater{}, &PurposeBytes::bytes);
  std::string text;
  for (const PurposeBytes& entry : entries) {
    if (entry.bytes == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", entry.purpose, format_byte_count(entry.bytes));
  }
  return text;
}

/// All but the program itself is spread over the ranks, about evenly.
std::string what_next(const std::vector<MemoryNeed>& needs, std::int64_t bytes, PartId parts) {
  const auto largest = std::ranges::max_element(needs, {}, total);
  const auto own = std::ranges::find(largest->purposes, "program and MPI", &PurposeBytes::purpose);
  const std::int64_t program = own == largest->purposes.end() ? 0 : own->bytes;
  const std::string narrower = "fewer columns or layers (--hidden, --layers)";
  if (bytes <= program)
    return "give each rank more memory: the program alone needs " + format_byte_count(program);
  const std::int64_t spread = (total(*largest) - program) * std::ssize(needs);
  const std::int64_t ranks = std::max<std::int64_t>(std::ssize(needs) + 1, spread / (bytes - program) + 1);
  if (ranks > parts) return fmt::format("use {}; {} parts serve no more ranks", narrower, parts);
  return fmt::format("use about {} ranks or more with as much memory each (gnn_plan says how many), or {}",
                     ranks, narrower);
}

void check_limit(const std::vector<MemoryNeed>& needs, std::int64_t limit, PartId parts) {
  const auto largest = std::ranges::max_element(needs, {}, total);
  if (limit == 0 || total(*largest) <= limit) return;
  throw InputError({.what = "the run does not fit into the memory it may use",
                    .where = "--memory-limit",
                    .found = fmt::format("rank {} needs {}: {}", largest - needs.begin(),
                                         format_byte_count(total(*largest)), by_purpose(*largest)),
                    .expected = fmt::format("at most {} on each rank", format_byte_count(limit)),
                    .next = what_next(needs, limit, parts)});
}

void check_free(const std::vector<MemoryNeed>& needs, PartId parts) {
  struct Shared {
    std::int64_t needed = 0;
    std::int64_t free = 0;
    std::vector<MemoryNeed> ranks;
  };
  std::map<std::pair<std::string, std::string>, Shared> bounds;
  for (const MemoryNeed& need : needs) {
    for (const FreeMemory& free : need.free) {
      Shared& shared = bounds[{need.host, free.of}];
      shared.needed += std::max<std::int64_t>(0, total(need) - need.resident);
      shared.free = shared.ranks.empty() ? free.bytes : std::min(shared.free, free.bytes);
      shared.ranks.push_back(need);
    }
  }
  for (const auto& [key, shared] : bounds) {
    if (shared.needed <= shared.free) continue;
    const auto ranks = std::ssize(shared.ranks);
    throw InputError(
        {.what = "the run does not fit into memory",
         .where = fmt::format("host {}, {}", key.first, key.second),
         .found = fmt::format("{} rank{} there need{} {} more; the largest in all: {}", ranks,
                              ranks == 1 ? "" : "s", ranks == 1 ? "s" : "", format_byte_count(shared.needed),
                              by_purpose(*std::ranges::max_element(shared.ranks, {}, total))),
         .expected = fmt::format("at most {} free", format_byte_count(shared.free)),
         .next = what_next(needs, shared.free / ranks, parts)});
  }
}

nlohmann::json to_json(const MemoryNeed& need) {
  nlohmann::json json = {{"host", need.host}, {"resident", need.resident}};
  for (const FreeMemory& free : need.free) json["free"].push_back({free.of, free.bytes});
  for (const PurposeBytes& entry : need.purposes) json["purposes"].push_back({entry.purpose, entry.bytes});
  return json;
}

MemoryNeed parse_need(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  MemoryNeed need = {.host = json["host"], .resident = json["resident"], .free = {}, .purposes = {}};
  for (const auto& free : json.value("free", nlohmann::json::array()))
    need.free.push_back({free[0], free[1]});
  for (const auto& entry : json.value("purposes", nlohmann::json::array()))
    need.purposes.push_back({entry[0], entry[1]});
  return need;
}

}  // namespace

MemoryNeed need_of(const RankMemory& memory) {
  return {
      .host = host_name(), .resident = resident_bytes(), .free = free_memory(), .purposes = memory.purposes};
}

void check_fits(const std::vector<MemoryNeed>& needs, std::int64_t limit, PartId parts) {
  check_limit(needs, limit, parts);
  check_free(needs, parts);
}

std::vector<MemoryNeed> gather_needs(const mpi::Communicator& communicator, const RankMemory& memory) {
  std::vector<MemoryNeed> needs;
  for (const std::string& text : communicator.gather(to_json(need_of(memory)).dump(), 0))
    needs.push_back(parse_need(text));
  return needs;
}

void check_memory(const mpi::Communicator& communicator, const RankMemory& memory, std::int64_t limit,
                  PartId parts) {
  const std::vector<MemoryNeed> needs = gather_needs(communicator, memory);
  communicator.agree([&] {
    if (communicator.rank() == 0) check_fits(needs, limit, parts);
  });
}

}  // namespace halo::train
