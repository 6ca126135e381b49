#include "expire.h"
