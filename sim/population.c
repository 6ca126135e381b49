#include "population.h"
