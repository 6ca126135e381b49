#include "dict.h"
