#include "jitter.h"
