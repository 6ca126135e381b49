#include "expect.h"
