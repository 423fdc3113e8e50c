// The version of tev. CMake reads its project version from these three lines.
#pragma once

/// Incremented when the interface changes incompatibly.
#define TEV_VERSION_MAJOR 0
/// Incremented when the interface grows; before 1.0 also when it changes incompatibly.
#define TEV_VERSION_MINOR 1
/// Incremented when neither the interface nor, for equal inputs, any outcome changes.
#define TEV_VERSION_PATCH 0

/// The version as one number that grows with it, for comparisons in `#if`.
#define TEV_VERSION (TEV_VERSION_MAJOR * 10000 + TEV_VERSION_MINOR * 100 + TEV_VERSION_PATCH)
