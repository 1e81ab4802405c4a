// Confidence intervals as tasks and scorers use them.
#pragma once

#include "analyze/confidence.h"
