#include "propagate.h"
