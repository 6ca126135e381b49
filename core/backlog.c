#include "backlog.h"
