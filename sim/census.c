#include "census.h"
