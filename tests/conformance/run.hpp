// Runs folders of case files.
#pragma once

#include <filesystem>

#include "conformance/report.hpp"

namespace conformance {

/// Runs every *.json of a folder, in the order of their names; other files and folders are not
/// looked at. Never throws for what the files hold.
[[nodiscard]] folder_report run_folder(std::filesystem::path const& folder);

/// Runs one file.
[[nodiscard]] file_report run_file(std::filesystem::path const& path);

}  // namespace conformance
