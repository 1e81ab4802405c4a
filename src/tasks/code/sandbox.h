// Where unreviewed programs run: bubblewrap (`bwrap`) gives each its own user, processes, network, host name
// and files, of which only the system's programs and libraries can be read and only a small /tmp written.
#pragma once

#include <string>

#include "tasks/code/limited_process.h"

namespace punt {

enum class Confinement {
  kSandbox,     // limits and walls
  kLimitsOnly,  // the program sees the machine like any process of user nobody (or of the caller, if not root)
};

/// Empty if programs can be sandboxed; else what is missing, in a few words. Tries it, which takes a few milliseconds.
std::string SandboxTrouble();

/// Runs `command` as RunLimited does. Inside the sandbox its working folder is /tmp. kSandbox requires that
/// SandboxTrouble is empty.
ProcessResult RunConfined(const ProcessCommand& command, Confinement confinement);

}  // namespace punt
