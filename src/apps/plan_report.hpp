#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "halo/train/epoch_estimate.hpp"
#include "halo/train/memory_check.hpp"
#include "halo/train/run_plan.hpp"

namespace halo::apps {

/// A run on some number of ranks: what it needs, how long it takes, whether it fits.
struct PlannedRun {
  train::RunPlan plan;
  train::EpochEstimate epoch;
  train::Hosts hosts;
  train::Link link;
  std::string unfit;  ///< why not; empty: it fits
};

/// What train::check_fits() says of ranks that run where `needs` says and need what the plan says; empty: they
/// fit.
std::string why_unfit(const train::RunPlan& plan, std::vector<train::MemoryNeed> needs, std::int64_t limit,
                      PartId parts);

/// A column for each run, on stdout.
void print_plans(const datasets::PartitionManifest& manifest, const train::TrainOptions& options,
                 const std::vector<PlannedRun>& runs);
nlohmann::ordered_json plans_to_json(const datasets::PartitionManifest& manifest,
                                     const train::TrainOptions& options, const std::vector<PlannedRun>& runs);

}  // namespace halo::apps
