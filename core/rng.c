#include "rng.h"
