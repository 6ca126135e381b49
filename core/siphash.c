#include "siphash.h"
